//! Task that owns the views of games and tournaments, and tells those who watch them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::{
    select,
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval},
};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use zeitnot_net::LogThrottle;
use zeitnot_wire::printable;

use super::{
    entry::Entry,
    feed::Event,
    subscribers::{SubscriberId, Subscribers},
    tournament::TournamentEntry,
    view::{BotView, Game, GameSummary, LiveMessage, PairingRow, Topic, Tournament, TournamentSummary},
};
use crate::{jobs::Jobs, panic_guard};

/// Characters of a client's words that are shown again.
const MAX_SHOWN: usize = 50;

/// Ended games that are kept.
const MAX_ENDED: usize = 200;
/// Games in a list.
pub const MAX_LISTED: usize = 200;
/// Tournaments that are kept.
const MAX_TOURNAMENTS: usize = 1000;
/// Interval of what can wait: thoughts, views of those who were left out, ends without an event.
const TICK: Duration = Duration::from_millis(250);
/// Ticks between two messages about one tournament.
const TOURNAMENT_TICKS: u64 = 2;

/// Views of all that is shown, and those who watch them.
#[derive(Debug, Default)]
pub struct Hub {
    running: BTreeMap<String, Entry>,
    /// Ids of running games in the order of their starts.
    order: VecDeque<String>,
    /// The latest last.
    ended: VecDeque<Entry>,
    /// Games that ended before this run, the latest first; the database has the rest of them.
    stored: Vec<GameSummary>,
    tournaments: BTreeMap<String, TournamentEntry>,
    bot: Option<BotView>,
    subscribers: Subscribers,
    /// Version of the list of games. Changes that its watchers are told of one by one leave it as it is.
    list_version: u64,
    /// Number of subscribers, for whoever waits for the last one to leave.
    count: watch::Sender<usize>,
    ticks: u64,
    /// Panics in the log, by what they cost.
    panics: LogThrottle,
}

impl Hub {
    /// Creates an empty one; `count` follows the number of subscribers.
    pub fn new(count: watch::Sender<usize>) -> Hub {
        Hub { count, ..Hub::default() }
    }

    /// Lists these games, which ended before this run, the latest first, behind its own.
    pub fn restore(&mut self, mut games: Vec<GameSummary>) {
        games.retain(|game| !self.has_game(&game.id));
        self.stored = games;
    }

    /// Runs until `stop`; what has been reported by then is told.
    pub async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut jobs: Jobs<Hub>,
        stop: CancellationToken,
    ) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            select! {
                biased;
                () = stop.cancelled() => break,
                Some(event) = events.recv() => self.take(event),
                Some(job) = jobs.recv() => self.contain("a request", job),
                _ = tick.tick(), if self.is_busy() => self.contain("the news of all games", Hub::tick),
            }
        }
        while let Ok(event) = events.try_recv() {
            self.take(event);
        }
        self.contain("the news of all games", Hub::tick);
    }

    /// Applies an event. A panic costs the page its game, or what the event tells.
    fn take(&mut self, event: Event) {
        let (game, what) = (event.game().cloned(), event.subject());
        let Some(game) = game else { return self.contain(what, |hub| hub.apply(event)) };
        if let Err(panic) = panic_guard::contain(|| self.apply(event)) {
            let id = &*game.info.id;
            tracing::error!("internal error: the page no longer shows game {id}: {panic}; please report it");
            self.running.remove(id);
            self.order.retain(|known| known != id);
            self.ended.retain(|entry| entry.id() != id);
        }
    }

    /// Runs a step. Of each kind that panics, the first is logged, and then no more than one an hour.
    fn contain(&mut self, what: &str, step: impl FnOnce(&mut Hub)) {
        if let Err(panic) = panic_guard::contain(|| step(self))
            && self.panics.admits(what, std::time::Instant::now())
        {
            tracing::error!("internal error: the page lacks {what}: {panic}; please report it");
        }
    }

    pub(super) fn apply(&mut self, event: Event) {
        match event {
            Event::Whole { game, plies, clocks } => {
                let id = game.info.id.to_string();
                // One that is over already is shown all the same, and ended by what follows.
                let is_it = |entry: &Entry| Arc::ptr_eq(&entry.shared, &game);
                if game.end.get().is_some() && self.entry(&id).is_some_and(is_it) {
                    return;
                }
                let is_new = !self.running.contains_key(&id);
                if is_new {
                    // A bot that follows a game again after it has lost sight of it.
                    self.ended.retain(|entry| entry.id() != id);
                    self.stored.retain(|game| game.id != id);
                }
                let entry = self.running.entry(id.clone()).or_insert_with(|| Entry::new(game.clone()));
                entry.shared = game;
                entry.replace(plies, clocks);
                let (summary, is_listed) = (entry.summary(), entry.is_listed());
                if is_new {
                    self.order.push_back(id.clone());
                }
                if is_new && is_listed {
                    self.broadcast(&[&Topic::Games], || LiveMessage::Begin { game: summary });
                }
                self.list_version += u64::from(!is_new && is_listed);
                // Watchers of all games see a gap and watch again.
                self.tell_whole(&Topic::Game(id));
            }
            Event::Moved { game, ply, made, clocks } => {
                let Some(entry) = self.running.get_mut(&*game.info.id) else { return };
                let topics = entry.topics();
                if let Some(message) = entry.play(ply, made, clocks) {
                    self.broadcast(&topics.iter().collect::<Vec<_>>(), || message);
                }
            }
            Event::Ended(game) => self.end(&game.info.id),
            Event::Thought { game, ply, side, thought } => {
                if let Some(entry) = self.running.get_mut(&game) {
                    entry.think(ply, side, thought);
                }
            }
            Event::Tournament(tournament) => {
                self.correct(&tournament.ended);
                let name = tournament.summary.name.clone();
                if let Some(entry) = self.tournament_entry(name) {
                    entry.update(*tournament);
                }
            }
            Event::Deleted(name) => {
                self.tournaments.remove(&name);
                let topic = Topic::Tournament(name.clone());
                self.broadcast(&[&topic], || LiveMessage::Deleted { tournament: name });
            }
            Event::Bot(view) => {
                self.bot = Some(*view);
                self.tell_whole(&Topic::Bot);
            }
            Event::Refusals { tournament, rows } => {
                if let Some(entry) = self.tournament_entry(tournament) {
                    entry.set_refusals(rows);
                }
            }
            #[cfg(test)]
            Event::Bug(_) => panic!("a bug in the hub"),
        }
    }

    /// Shows notes of the organiser in the views of ended games, too.
    fn correct(&mut self, rows: &[PairingRow]) {
        for row in rows {
            let (Some(id), Some(result), Some(note)) = (&row.game, &row.result, &row.note) else { continue };
            let Some(entry) = self.ended.iter_mut().rev().find(|entry| entry.id() == id) else {
                if let Some(game) = self.stored.iter_mut().find(|game| game.id == *id) {
                    game.result = Some(result.clone());
                    self.list_version += 1;
                }
                continue;
            };
            if let Some(message) = entry.correct(result, note) {
                self.broadcast(&[&Topic::Games], || message);
                self.tell_whole(&Topic::Game(id.clone()));
            }
        }
    }

    fn tournament_entry(&mut self, name: String) -> Option<&mut TournamentEntry> {
        let has_room = self.tournaments.len() < MAX_TOURNAMENTS || self.tournaments.contains_key(&name);
        has_room.then(|| self.tournaments.entry(name).or_default())
    }

    fn end(&mut self, id: &str) {
        let Some(mut entry) = self.running.remove(id) else { return };
        self.order.retain(|known| known != id);
        let topic = Topic::Game(id.to_owned());
        for thought in entry.take_thoughts() {
            self.broadcast(&[&topic], || thought);
        }
        let message = entry.end();
        // Games of tables, which are not listed, do not displace listed ones.
        let mut alike = self.ended.iter().enumerate().filter(|(_, it)| it.is_listed() == entry.is_listed());
        if let (Some((oldest, _)), true) = (alike.next(), alike.count() + 1 >= MAX_ENDED) {
            self.ended.remove(oldest);
        }
        let topics = entry.topics();
        self.ended.push_back(entry);
        self.broadcast(&topics.iter().collect::<Vec<_>>(), || message);
    }

    /// Returns whether there is anything to do from time to time: without games nobody thinks, and without viewers nobody
    /// has to be told.
    fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.subscribers.count() > 0
    }

    pub(super) fn tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        let over = self.running.values().filter(|entry| entry.has_ended());
        for id in over.map(|entry| entry.id().to_owned()).collect::<Vec<_>>() {
            self.end(&id);
        }
        let thoughts = self.running.iter_mut().map(|(id, entry)| (id.clone(), entry.take_thoughts()));
        for (id, thoughts) in thoughts.collect::<Vec<_>>() {
            for thought in thoughts {
                self.broadcast(&[&Topic::Game(id.clone())], || thought);
            }
        }
        if self.ticks.is_multiple_of(TOURNAMENT_TICKS) {
            let dirty = self
                .tournaments
                .iter_mut()
                .filter_map(|(name, entry)| entry.take_change(TOURNAMENT_TICKS).then(|| name.clone()));
            for name in dirty.collect::<Vec<_>>() {
                self.tell_whole(&Topic::Tournament(name));
            }
        }
        let mut printed = BTreeMap::<Topic, Option<Utf8Bytes>>::new();
        for (id, topic) in self.subscribers.behind() {
            if !printed.contains_key(&topic) {
                printed.insert(topic.clone(), self.whole(&topic).map(|message| print(&message)));
            }
            if let Some(Some(message)) = printed.get(&topic) {
                self.subscribers.send(id, Some(&topic), message);
            }
        }
    }

    /// Sends a whole view to all who watch a subject.
    fn tell_whole(&mut self, topic: &Topic) {
        if self.subscribers.has_watchers(topic)
            && let Some(message) = self.whole(topic)
        {
            self.subscribers.broadcast(&[topic], &print(&message));
        }
    }

    /// Prints a message once, if anybody watches, and sends it to all who do.
    fn broadcast(&mut self, topics: &[&Topic], message: impl FnOnce() -> LiveMessage) {
        if topics.iter().any(|topic| self.subscribers.has_watchers(topic)) {
            self.subscribers.broadcast(topics, &print(&message()));
        }
    }

    fn whole(&self, topic: &Topic) -> Option<LiveMessage> {
        Some(match topic {
            Topic::Games => LiveMessage::Games { games: self.games() },
            Topic::Bot => LiveMessage::Bot { bot: self.bot()?.for_visitors() },
            Topic::Game(id) => LiveMessage::Game { game: self.game(id)? },
            Topic::Tournament(name) => LiveMessage::Tournament { tournament: self.tournament(name)? },
        })
    }

    /// Adds a subscriber, who gets its messages by this queue and watches nothing yet.
    pub fn subscribe(&mut self, queue: mpsc::Sender<Utf8Bytes>) -> SubscriberId {
        let id = self.subscribers.add(queue);
        self.count.send_replace(self.subscribers.count());
        id
    }

    /// Removes a subscriber, who has gone.
    pub fn unsubscribe(&mut self, id: SubscriberId) {
        self.subscribers.remove(id);
        self.count.send_replace(self.subscribers.count());
    }

    /// Shows a subject to a subscriber: at once as a whole, and then each change. Returns the bytes of the answer. A
    /// list of games that the subscriber has is not sent again.
    pub fn watch(&mut self, id: SubscriberId, topic: Topic) -> usize {
        if topic == Topic::Games && self.subscribers.has_list(id, self.list_version) {
            return 0;
        }
        let Some(whole) = self.whole(&topic) else {
            let error = match topic {
                Topic::Tournament(name) => format!("there is no tournament {}", printable(&name, MAX_SHOWN)),
                Topic::Game(game) => format!("there is no game {}", printable(&game, MAX_SHOWN)),
                Topic::Bot => "this page shows no bot".to_owned(),
                Topic::Games => return 0,
            };
            return self.tell(id, None, &LiveMessage::Error { error });
        };
        if !self.subscribers.watch(id, topic.clone()) {
            let error = "you watch too much at once: unwatch something first".to_owned();
            return self.tell(id, None, &LiveMessage::Error { error });
        }
        if topic == Topic::Games {
            self.subscribers.note_list(id, self.list_version);
        }
        self.tell(id, Some(&topic), &whole)
    }

    /// Sends a message to one; returns its bytes.
    fn tell(&mut self, id: SubscriberId, topic: Option<&Topic>, message: &LiveMessage) -> usize {
        let message = print(message);
        self.subscribers.send(id, topic, &message);
        message.len()
    }

    /// Ends what [`Hub::watch`] has begun.
    pub fn unwatch(&mut self, id: SubscriberId, topic: &Topic) {
        self.subscribers.unwatch(id, topic);
    }

    /// Returns the running games, the oldest first, and then the latest ended ones.
    pub fn games(&self) -> Vec<GameSummary> {
        let running = self.order.iter().filter_map(|id| self.running.get(id));
        running
            .chain(self.ended.iter().rev())
            .filter(|entry| entry.is_listed())
            .map(Entry::summary)
            .chain(self.stored.iter().cloned())
            .take(MAX_LISTED)
            .collect()
    }

    /// Returns the state of the bot whose page this is, with what is for its owner only.
    pub fn bot(&self) -> Option<BotView> {
        self.bot.clone()
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.running.get(id).or_else(|| self.ended.iter().rev().find(|entry| entry.id() == id))
    }

    /// Returns whether a game runs, or is among the latest that ended in this run.
    pub fn has_game(&self, id: &str) -> bool {
        self.entry(id).is_some()
    }

    /// Returns such a game with its moves.
    pub fn game(&self, id: &str) -> Option<Game> {
        self.entry(id).map(Entry::game)
    }

    /// Prints such a game.
    pub fn pgn(&self, id: &str) -> Option<String> {
        self.entry(id).map(Entry::pgn)
    }

    /// Returns the tournaments of this run, without pairings, in the order of their names.
    pub fn tournaments(&self) -> Vec<TournamentSummary> {
        self.tournaments.values().filter_map(|entry| entry.summary.clone()).collect()
    }

    /// Returns whether it was reported in this run.
    pub fn has_tournament(&self, name: &str) -> bool {
        self.tournaments.contains_key(name)
    }

    /// Returns such a tournament with its pairings.
    pub fn tournament(&self, name: &str) -> Option<Tournament> {
        self.tournaments.get(name)?.view()
    }
}

/// Prints a message, for all who get it.
pub fn print(message: &LiveMessage) -> Utf8Bytes {
    serde_json::to_string(message).unwrap_or_default().into()
}

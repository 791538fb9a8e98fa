//! The account's session: its event stream, the games that run, and what is asked for beside them.
//!
//! `places` counts games and accepted challenges; `desk` answers challenges, `matches` sends ours, `halls` joins
//! teams and tournaments; `errands` does the asking. A place is free again when its game's task has ended, in
//! whatever way. Correspondence games have a task only while there is something to do in them; else they are
//! `sleepers`.

use std::time::{Duration, Instant};

use tokio::{
    select,
    sync::oneshot,
    task::JoinSet,
    time::{sleep_until, timeout},
};
use tokio_util::task::JoinMap;
use tracing::{Instrument, debug, info, info_span, warn};

use zeitnot_wire::lichess::{Challenge, Direction, Event, GameEvent, GameId, Speed};

use super::{
    challenges::{Desk, Running},
    clubs::Clubs,
    config::Config,
    game::{self, Left, News, Table},
    http::HttpError,
    limits::Kind,
    people::People,
    stream::{Heard, Stream},
};
use crate::Shutdown;

mod desk;
mod errands;
mod halls;
mod matches;
mod places;
mod sleepers;

use errands::Answered;
use matches::Matches;
use places::Places;
use sleepers::Sleepers;

/// So often something is asked for while games run, so that no move pays for a new connection.
const WARM: Duration = Duration::from_secs(45);
/// What the last requests may take when all is over.
const GOODBYE: Duration = Duration::from_secs(3);
/// Nothing is due: look again tomorrow.
const LONG: Duration = Duration::from_secs(86_400);

/// The actor of one account.
pub(super) struct Account<'a> {
    config: &'a Config,
    table: Table,
    shutdown: &'a Shutdown,
    people: People,
    events: Stream<Event>,
    /// When the stream was opened last, by us or by itself.
    opened: Instant,
    /// When the server was asked last whether it sees us.
    seen: Instant,
    games: JoinMap<GameId, Left>,
    places: Places,
    sleepers: Sleepers,
    desk: Desk,
    matches: Option<Matches>,
    clubs: Clubs,
    /// Requests whose answers matter.
    errands: JoinSet<Answered>,
    /// Requests of which nothing depends; they are sent to their end, also when all is over.
    notes: JoinSet<()>,
    /// Games that may still begin or end, if they are counted.
    left: Option<u32>,
    /// No more games.
    leaving: bool,
}

impl<'a> Account<'a> {
    pub async fn new(
        config: &'a Config,
        table: Table,
        people: People,
        shutdown: &'a Shutdown,
    ) -> Account<'a> {
        let now = Instant::now();
        let most = [config.max_games, config.correspondence.max_games];
        let mut desk = Desk::new(config.challenges.clone(), most, people.clone());
        let left = config.games.map(u32::from);
        left.into_iter().for_each(|left| desk.count(left));
        let matches = match &config.matchmaking {
            Some(matchmaking) => Some(Matches::open(matchmaking).await),
            None => None,
        };
        Account {
            config,
            events: Stream::follow(table.http.clone(), Kind::Events, EVENTS.to_owned()),
            opened: now,
            seen: now,
            table,
            shutdown,
            people,
            games: JoinMap::new(),
            places: Places::default(),
            sleepers: Sleepers::new(config.correspondence.checkin, now),
            desk,
            matches,
            clubs: Clubs::new(&config.team, &config.tournament, now),
            errands: JoinSet::new(),
            notes: JoinSet::new(),
            left,
            leaving: false,
        }
    }

    /// Plays until told to stop, or until there were enough games.
    pub async fn run(mut self) -> Result<(), HttpError> {
        let result = self.stay().await;
        self.table.http.tally().close();
        let last = async {
            self.save_for_good().await;
            while self.notes.join_next().await.is_some() {}
        };
        if timeout(GOODBYE, last).await.is_err() {
            debug!("left without an answer to the last requests");
        }
        result
    }

    async fn stay(&mut self) -> Result<(), HttpError> {
        while !(self.leaving && self.places.is_empty()) {
            let due = self.due();
            select! {
                biased;
                () = self.shutdown.soon.cancelled(), if !self.leaving => {
                    info!("taking no new games; {} running", self.games.len());
                    self.leave();
                }
                Some((id, left)) = self.games.join_next() => self.ended(id, left.ok())?,
                Some(answered) = self.errands.join_next() => self.answered(answered.ok())?,
                Some(_) = self.notes.join_next() => {}
                heard = self.events.next() => match heard {
                    Heard::Opened => {
                        self.opened = Instant::now();
                        self.look(Duration::ZERO);
                    }
                    Heard::Message(event, _) => self.hear(event),
                    Heard::Over(error) => return Err(error),
                },
                () = sleep_until(due.into()) => {}
            }
            self.settle();
        }
        Ok(())
    }

    /// When something is due, if nothing happens before.
    fn due(&self) -> Instant {
        let matches = self.matches.as_ref().map(Matches::due);
        let sleepers = self.sleepers.due().filter(|_| !self.leaving);
        let times = [
            Some(self.check_due()),
            self.places.due(),
            self.table.http.tally().next(),
            matches,
            self.clubs.due(),
            sleepers,
        ];
        times.into_iter().flatten().min().unwrap_or_else(|| Instant::now() + LONG)
    }

    fn check_due(&self) -> Instant {
        let check = self.config.patience.check.min(LONG);
        self.seen + if self.places.has_games() { WARM.min(check) } else { check }
    }

    /// Everything that time and freed places make due.
    fn settle(&mut self) {
        let now = Instant::now();
        let late = self.places.forget(now);
        if !late.is_empty() {
            info!("{} accepted, but no game came of it", late.len());
            // Or one did, and the stream did not tell.
            self.look(Duration::ZERO);
        }
        if now >= self.check_due() {
            self.seen = now;
            self.check();
        }
        self.table.http.tally().report(now);
        if !self.leaving {
            self.wake(now);
            self.serve();
            self.knock();
        }
        self.arrange();
        self.tell_queue();
    }

    /// No more games: whoever waits is told.
    fn leave(&mut self) {
        self.leaving = true;
        for waiting in self.desk.clear() {
            self.turn_away(&waiting);
        }
        self.leave_halls();
        self.places.lull();
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::GameStart { game } => self.start(&game),
            Event::GameFinish { game } => self.finish(&game),
            Event::Challenge { challenge, compat } if !self.is_ours(&challenge) => {
                self.challenged(&challenge, compat);
            }
            Event::ChallengeCanceled { challenge } if !self.is_ours(&challenge) => {
                self.places.vanish(challenge.id);
                if self.desk.cancel(challenge.id) {
                    debug!("challenge {} was taken back", challenge.id);
                }
            }
            Event::ChallengeDeclined { challenge } if self.is_ours(&challenge) => self.declined(&challenge),
            Event::ChallengeCanceled { challenge } => self.withdrawn(challenge.id),
            Event::Challenge { .. } | Event::ChallengeDeclined { .. } => {}
            Event::Other(unknown) => debug!("passed over: {:?}", unknown.kind),
        }
    }

    /// Did we send it?
    fn is_ours(&self, challenge: &Challenge) -> bool {
        let is_from_us = challenge.challenger.as_ref().is_some_and(|user| user.id == self.table.me);
        is_from_us || challenge.direction == Some(Direction::Out)
    }

    /// A game that runs, told by an event or by the list of running games, and perhaps by both.
    fn start(&mut self, event: &GameEvent) {
        let id = event.game_id;
        let is_playable = event.compat.is_none_or(|compat| compat.bot);
        if self.games.contains_key(&id) || event.status.is_over() || !is_playable {
            debug!("nothing to do for game {id}");
            return self.places.vanish(id.into());
        }
        if event.speed == Some(Speed::Correspondence) {
            // It sleeps until we have a turn in it.
            self.places.vanish(id.into());
            if !self.sleepers.knows(id) {
                self.met(event);
            }
            return self.sleepers.hear(event, Instant::now());
        }
        let is_from_us = self.met(event);
        if self.leaving && !self.places.was_accepted(id) && !event.has_moved {
            info!("leaving: game {id} is not begun");
            return self.request(format!("api/bot/game/{id}/abort"), Kind::Game, None);
        }
        let news = self.places.begin(event, is_from_us);
        self.play(id, news);
    }

    fn play(&mut self, id: GameId, news: News) {
        let (met, hears) = oneshot::channel();
        let news = News { met: Some(met), ..news };
        self.errands.spawn(async move { Answered::Met(id, hears.await.ok()) });
        let span = info_span!("game", id = %id);
        self.games.spawn(id, game::play(self.table.clone(), id, news).instrument(span));
    }

    /// Wakes the sleeping games in which there is something to do, as far as there is room, and looks for more.
    fn wake(&mut self, now: Instant) {
        if self.sleepers.due().is_some_and(|due| due <= now) {
            self.look(Duration::ZERO);
        }
        while self.places.awake() < self.config.correspondence.at_once.get() {
            let Some(id) = self.sleepers.wake() else { return };
            let news = self.places.wake(id);
            self.play(id, news);
        }
        if self.sleepers.has_due() {
            self.places.lull();
        }
    }

    /// The places that are taken, by those who sleep as well.
    fn running(&self) -> Running {
        let running = self.places.running();
        Running { correspondence: running.correspondence + self.sleepers.len(), ..running }
    }

    /// The account's events say that a game is over.
    fn finish(&mut self, event: &GameEvent) {
        let id = event.game_id;
        if !self.sleepers.finish(id, Instant::now()) {
            self.places.finish(id, game::ending(&event.status, event.winner));
        }
    }

    fn ended(&mut self, id: GameId, left: Option<Left>) -> Result<(), HttpError> {
        if let Some(tournament) = self.places.end(id) {
            self.clubs.is_free_again(tournament, Instant::now());
        }
        match left {
            Some(Left::Over) => self.count(),
            Some(Left::Unplayed) => {}
            Some(Left::Asleep) => self.sleepers.fall_asleep(id, Instant::now()),
            Some(Left::Unauthorized) => return Err(HttpError::Unauthorized),
            None => {
                tracing::error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games still has it.
                self.look(errands::LOOK_AGAIN);
            }
        }
        Ok(())
    }

    /// One game less to play.
    fn count(&mut self) {
        let Some(left) = &mut self.left else { return };
        *left = left.saturating_sub(1);
        self.desk.count(*left);
        if *left == 0 && !self.leaving {
            info!("that were all games");
            self.leave();
        }
    }

    /// The server says whether it sees us. A stream that only seems to live is opened again.
    fn seen(&mut self, is_online: bool) {
        let is_old = self.opened.elapsed() >= self.config.patience.check;
        if is_online || !is_old {
            return;
        }
        warn!("the server does not see us, although the event stream is open; opening it again");
        self.opened = Instant::now();
        self.events = Stream::follow(self.table.http.clone(), Kind::Events, EVENTS.to_owned());
    }
}

/// Where the account's events are.
const EVENTS: &str = "api/stream/event";

//! The session of an account: dispatches its events to challenges, games, matchmaking and teams.
//!
//! `challenges`, `games` and `lookups` hold what it does about each. A slot is free again when its game's task has
//! ended, in whatever way.

use std::time::{Duration, Instant};

use tokio::{
    select,
    sync::watch,
    time::{sleep_until, timeout},
};
use tokio_util::task::JoinMap;
use tracing::{debug, info};
use zeitnot_seat::OrderQueue;
use zeitnot_wire::lichess::{Event, GameId};

use super::{game_starts::GameStarts, slots::GameSlots, suspended::SuspendedGames};
use crate::{
    Shutdown,
    lichess::{
        Background, Config, HttpError, Stream, StreamEvent, Tasks,
        challenges::{
            capacity::{Capacity, RunningGames, SlotKind},
            incoming::IncomingChallenges,
            list_updates::WatchedLists,
            queue::ChallengeQueue,
        },
        game::{
            context::{GameContext, GameEnd},
            result::GameFinish,
        },
        matchmaking::outgoing::{Load, OutgoingChallenges},
        teams::{joining::Teams, schedule::Schedule},
    },
    wait::now,
};

mod challenges;
mod games;
mod lookups;
mod orders;

use lookups::Lookup;

/// Between two requests while games run, so that no move waits for a new connection.
const KEEP_WARM: Duration = Duration::from_secs(45);
/// For the last requests when the session ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time without a look at what is due.
const DAY: Duration = Duration::from_secs(86_400);

pub(crate) struct Account<'a> {
    config: Config,
    /// Later configurations.
    updates: watch::Receiver<Config>,
    context: GameContext,
    orders: OrderQueue,
    players: WatchedLists,
    shutdown: &'a Shutdown,
    events: Stream<Event>,
    /// Last opening of the event stream.
    opened: Instant,
    /// Last check of our online status.
    checked: Instant,
    games: JoinMap<GameId, GameEnd>,
    slots: GameSlots,
    starts: GameStarts,
    suspended: SuspendedGames,
    incoming: IncomingChallenges,
    outgoing: OutgoingChallenges,
    teams: Teams,
    lookups: Tasks<Lookup>,
    background: Background,
    /// Games that may still begin or end, if they are counted.
    remaining: Option<u32>,
    is_leaving: bool,
    is_checking_token: bool,
}

fn capacity(config: &Config, remaining: Option<u32>) -> Capacity {
    let challenge = &config.challenge;
    let max_correspondence = config.correspondence.max_games;
    let mut capacity = Capacity::new(config.concurrency, max_correspondence, challenge.reserved_for_humans);
    remaining.into_iter().for_each(|games| capacity.set_remaining(games));
    capacity
}

impl<'a> Account<'a> {
    pub(crate) async fn new(
        config: Config,
        updates: watch::Receiver<Config>,
        context: GameContext,
        players: WatchedLists,
        orders: OrderQueue,
        shutdown: &'a Shutdown,
    ) -> Account<'a> {
        let now = now();
        let http = &context.http;
        let remaining = config.games.map(u32::from);
        let lists = players.players.clone();
        let queue =
            ChallengeQueue::new(config.challenge.clone(), capacity(&config, remaining), lists.clone());
        let matchmaking = config.matchmaking.as_ref();
        let lobby = context.lobby.clone();
        let outgoing = OutgoingChallenges::new(matchmaking, http.clone(), lists, lobby).await;
        Account {
            events: Stream::of_account(http.clone()),
            opened: now,
            checked: now,
            updates,
            orders,
            players,
            shutdown,
            games: JoinMap::new(),
            slots: GameSlots::default(),
            starts: GameStarts::default(),
            suspended: SuspendedGames::new(config.correspondence.checkin_period, now),
            incoming: IncomingChallenges::new(
                http.clone(),
                queue,
                context.lobby.clone(),
                config.url.to_string(),
            ),
            outgoing,
            teams: Teams::new(http.clone(), Schedule::new(&config.team, &config.tournament, now)),
            lookups: Tasks::default(),
            background: Background::new(http.clone()),
            remaining,
            is_leaving: false,
            is_checking_token: false,
            context,
            config,
        }
    }

    /// Goes on by another configuration, as far as that can [change](crate::lichess::config::can_change): at once for
    /// challenges, in the games that begin from now on for their rules.
    fn reconfigure(&mut self) {
        self.config.take_over(self.updates.borrow_and_update().clone());
        let config = &self.config;
        self.players.reconfigure(&config.players);
        self.incoming.queue.reconfigure(config.challenge.clone(), capacity(config, self.remaining));
        self.outgoing.reconfigure(config.matchmaking.clone());
        self.context.rules = config.game_rules();
    }

    /// Plays until told to stop, or until enough games are played.
    pub(crate) async fn run(mut self) -> Result<(), HttpError> {
        let result = self.play().await;
        self.context.http.log().close();
        let last = async {
            self.outgoing.finish().await;
            self.background.finish().await;
        };
        if timeout(CLOSE_TIMEOUT, last).await.is_err() {
            debug!("left without replies to the last requests");
        }
        result
    }

    async fn play(&mut self) -> Result<(), HttpError> {
        while !(self.is_leaving && self.slots.is_empty()) {
            let due = self.due();
            select! {
                biased;
                () = self.shutdown.soon.cancelled(), if !self.is_leaving => {
                    info!("taking no new games; {} running", self.games.len());
                    self.leave();
                }
                Some((id, end)) = self.games.join_next() => self.game_ended(id, end.ok()),
                reply = self.incoming.accepting.next() => self.accepted(reply),
                reply = self.outgoing.requests.next() => self.handle_outgoing(reply),
                reply = self.teams.requests.next() => self.teams.handle(reply),
                request = self.orders.next() => self.carry_out(request),
                Ok(()) = self.updates.changed() => self.reconfigure(),
                reply = self.lookups.next() => self.looked_up(reply)?,
                () = self.background.next() => {}
                () = self.context.http.unauthorized(), if !self.is_checking_token => self.check_token(),
                event = self.events.next() => match event {
                    StreamEvent::Opened => {
                        self.opened = now();
                        self.list_games(Vec::new(), Duration::ZERO);
                    }
                    StreamEvent::Message(event, _) => self.handle(event),
                    StreamEvent::Closed(error) => return Err(error),
                },
                () = sleep_until(due.into()) => {}
            }
            self.update();
        }
        Ok(())
    }

    /// Returns when [`Account::update`] is due, if nothing happens before.
    fn due(&self) -> Instant {
        let times = [
            Some(self.check_due()),
            self.slots.due(),
            self.starts.due(),
            self.context.http.clocks().due(),
            self.context.http.log().next_due(),
            Some(self.outgoing.due),
            self.teams.due(),
            self.suspended.due().filter(|_| !self.is_leaving),
        ];
        times.into_iter().flatten().min().unwrap_or_else(|| now() + DAY)
    }

    fn check_due(&self) -> Instant {
        let period = self.config.timeouts.online_check.min(DAY);
        self.checked + if self.slots.has_games() { KEEP_WARM.min(period) } else { period }
    }

    /// Does everything that time and free slots make due.
    fn update(&mut self) {
        let now = now();
        let expired = self.slots.expire(now);
        if expired > 0 {
            info!("{expired} accepted challenges became no game");
        }
        let overdue = self.context.http.clocks().take_overdue(now);
        if !overdue.is_empty() {
            debug!("no news for too long of {overdue:?}");
        }
        // A challenge may have become a game without the stream telling it, or a game may have ended.
        if self.starts.take_due(now) || expired > 0 || !overdue.is_empty() {
            self.list_games(overdue, Duration::ZERO);
        }
        if now >= self.check_due() {
            self.checked = now;
            self.check_online();
        }
        self.context.http.log().summarise(now);
        if !self.is_leaving {
            self.resume_games(now);
            self.accept_waiting(now);
            let running = self.running();
            let slots = &self.slots;
            let has_room = self.incoming.queue.capacity.has_room(running, SlotKind::Human);
            self.teams.update(|id| has_room && !slots.plays_in(id));
        }
        let load = self.load();
        self.outgoing.update(load, &mut self.background);
        self.context.chat.set_queue(self.incoming.waiting_names());
    }

    fn leave(&mut self) {
        self.is_leaving = true;
        self.incoming.close(&mut self.background);
        self.teams.close(&mut self.background);
        self.slots.request_slots();
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::GameStart { game } => self.game_started(&game),
            Event::GameFinish { game } => {
                if !self.suspended.finish(game.game_id, now()) {
                    let finish = GameFinish::Told { status: game.status, winner: game.winner };
                    self.slots.finish(game.game_id, finish);
                }
            }
            Event::Challenge { challenge, compat } if !self.is_ours(&challenge) => {
                self.challenged(*challenge, compat);
            }
            Event::ChallengeCanceled { challenge } if !self.is_ours(&challenge) => {
                self.slots.release(challenge.id);
                if self.incoming.queue.remove(challenge.id) {
                    debug!("challenge {} was cancelled", challenge.id);
                }
            }
            Event::ChallengeDeclined { challenge } if self.is_ours(&challenge) => {
                self.outgoing.declined(&challenge);
            }
            Event::ChallengeCanceled { challenge } => {
                self.outgoing.cancelled(challenge.id);
            }
            Event::Challenge { .. } | Event::ChallengeDeclined { .. } => {}
            Event::Other(unknown) => debug!("ignored: {:?}", unknown.kind),
        }
    }

    /// Counts the slots in use, those of suspended games included.
    fn running(&self) -> RunningGames {
        let running = self.slots.running();
        RunningGames { correspondence: running.correspondence + self.suspended.correspondence(), ..running }
    }

    fn load(&self) -> Load {
        let running = self.running();
        let has_room = !self.is_leaving && self.incoming.queue.capacity.has_room(running, SlotKind::Bot);
        let has_correspondence_room =
            self.incoming.queue.capacity.has_room(running, SlotKind::Correspondence);
        Load { running, has_room, has_correspondence_room }
    }
}

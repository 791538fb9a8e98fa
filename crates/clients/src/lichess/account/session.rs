//! The session of an account: dispatches its events to challenges, games, matchmaking and teams.
//!
//! A slot is free again when its game's task has ended, in whatever way.

use std::time::{Duration, Instant};

use tokio::{
    select,
    sync::oneshot,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::task::JoinMap;
use tracing::{Instrument, debug, error, info, info_span, warn};
use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{
    Challenge, Compat, DeclineReason, Direction, Event, GameEvent, GameId, Playing, Speed, UserStatus,
};

use super::{slots::GameSlots, suspended::SuspendedGames};
use crate::{
    Shutdown,
    lichess::{
        Background, BotLimit, Config, HttpError, RequestKind, Stream, StreamEvent, Tasks,
        challenges::{
            incoming::{Acceptance, Accepted, IncomingChallenges},
            players::PlayerLists,
            queue::{ChallengeQueue, RunningGames, SlotKind},
        },
        game::{
            context::{GameContext, GameEnd, GameSignals},
            result, session as game,
        },
        matchmaking::outgoing::{self, Load, OutgoingChallenges},
        teams::{joining::Teams, schedule::Schedule},
    },
    wait::or_never,
};

const EVENTS: &str = "api/stream/event";
/// Between two requests while games run, so that no move waits for a new connection.
const KEEP_WARM: Duration = Duration::from_secs(45);
/// For the last requests when the session ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time without a look at what is due.
const DAY: Duration = Duration::from_secs(86_400);
/// The server lists no more running games.
const MAX_LISTED: usize = 50;
/// Before a failed look-up is repeated.
const LOOKUP_DELAY: Duration = Duration::from_secs(5);

enum Lookup {
    Playing(Result<Playing, HttpError>),
    /// Our online status.
    Online(Result<Vec<UserStatus>, HttpError>),
    Opponent(GameId, Option<Opponent>),
}

pub(crate) struct Account<'a> {
    config: &'a Config,
    context: GameContext,
    shutdown: &'a Shutdown,
    events: Stream<Event>,
    /// Last opening of the event stream.
    opened: Instant,
    /// Last check of our online status.
    checked: Instant,
    games: JoinMap<GameId, GameEnd>,
    slots: GameSlots,
    suspended: SuspendedGames,
    incoming: IncomingChallenges,
    outgoing: Option<OutgoingChallenges>,
    teams: Teams,
    lookups: Tasks<Lookup>,
    background: Background,
    /// Games that may still begin or end, if they are counted.
    remaining: Option<u32>,
    is_leaving: bool,
}

impl<'a> Account<'a> {
    pub(crate) async fn new(
        config: &'a Config,
        context: GameContext,
        players: PlayerLists,
        shutdown: &'a Shutdown,
    ) -> Account<'a> {
        let (now, http) = (Instant::now(), &context.http);
        let max_correspondence = config.correspondence.max_games;
        let mut queue = ChallengeQueue::new(
            config.challenge.clone(),
            config.concurrency,
            max_correspondence,
            players.clone(),
        );
        let remaining = config.games.map(u32::from);
        remaining.into_iter().for_each(|games| queue.set_remaining(games));
        let outgoing = match &config.matchmaking {
            Some(config) => Some(OutgoingChallenges::new(config, http.clone(), players).await),
            None => None,
        };
        Account {
            config,
            events: Stream::follow(http.clone(), RequestKind::EventStream, EVENTS.to_owned()),
            opened: now,
            checked: now,
            shutdown,
            games: JoinMap::new(),
            slots: GameSlots::default(),
            suspended: SuspendedGames::new(config.correspondence.checkin_period, now),
            incoming: IncomingChallenges::new(http.clone(), queue),
            outgoing,
            teams: Teams::new(http.clone(), Schedule::new(&config.team, &config.tournament, now)),
            lookups: Tasks::default(),
            background: Background::new(http.clone()),
            remaining,
            is_leaving: false,
            context,
        }
    }

    /// Plays until told to stop, or until enough games are played.
    pub(crate) async fn run(mut self) -> Result<(), HttpError> {
        let result = self.play().await;
        self.context.http.log().close();
        let last = async {
            if let Some(outgoing) = &mut self.outgoing {
                outgoing.finish().await;
            }
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
                Some((id, end)) = self.games.join_next() => self.game_ended(id, end.ok())?,
                reply = self.incoming.accepting.next() => self.accepted(reply)?,
                reply = or_never(self.outgoing.as_mut().map(|outgoing| outgoing.requests.next())) => self.handle_outgoing(reply),
                reply = self.teams.requests.next() => self.teams.handle(reply),
                reply = self.lookups.next() => self.looked_up(reply)?,
                () = self.background.next() => {}
                event = self.events.next() => match event {
                    StreamEvent::Opened => {
                        self.opened = Instant::now();
                        self.list_games(Duration::ZERO);
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
            self.context.http.log().next_due(),
            self.outgoing.as_ref().map(|outgoing| outgoing.due),
            self.teams.due(),
            self.suspended.due().filter(|_| !self.is_leaving),
        ];
        times.into_iter().flatten().min().unwrap_or_else(|| Instant::now() + DAY)
    }

    fn check_due(&self) -> Instant {
        let period = self.config.timeouts.online_check.min(DAY);
        self.checked + if self.slots.has_games() { KEEP_WARM.min(period) } else { period }
    }

    /// Does everything that time and free slots make due.
    fn update(&mut self) {
        let now = Instant::now();
        let expired = self.slots.expire(now);
        if expired > 0 {
            info!("{expired} accepted challenges became no game");
            // Or one did, and the stream did not tell.
            self.list_games(Duration::ZERO);
        }
        if now >= self.check_due() {
            self.checked = now;
            self.check_online();
        }
        self.context.http.log().summarise(now);
        if !self.is_leaving {
            self.resume_games(now);
            while let Some(challenge) = self.incoming.queue.next(self.running(), now) {
                self.accept(challenge);
            }
            let (queue, running, slots) = (&self.incoming.queue, self.running(), &self.slots);
            let has_room = queue.has_room(running, SlotKind::Human);
            self.teams.update(|id| has_room && !slots.plays_in(id));
        }
        let load = self.load();
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.update(load, &mut self.background);
        }
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
                if !self.suspended.finish(game.game_id, Instant::now()) {
                    self.slots.finish(game.game_id, result::describe(&game.status, game.winner));
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
                if let Some(outgoing) = &mut self.outgoing {
                    outgoing.declined(&challenge);
                }
            }
            Event::ChallengeCanceled { challenge } => {
                if let Some(outgoing) = &mut self.outgoing {
                    outgoing.cancelled(challenge.id);
                }
            }
            Event::Challenge { .. } | Event::ChallengeDeclined { .. } => {}
            Event::Other(unknown) => debug!("ignored: {:?}", unknown.kind),
        }
    }

    fn is_ours(&self, challenge: &Challenge) -> bool {
        let is_from_us = challenge.challenger.as_ref().is_some_and(|user| user.id == self.context.me);
        is_from_us || challenge.direction == Some(Direction::Out)
    }

    fn challenged(&mut self, challenge: Challenge, compat: Option<Compat>) {
        if self.slots.contains(challenge.id) || self.suspended.contains(challenge.id.into()) {
            return;
        }
        if self.is_leaving {
            return self.incoming.decline(&challenge, DeclineReason::Later, &mut self.background);
        }
        if compat.is_some_and(|compat| !compat.bot) {
            return self.incoming.decline(&challenge, DeclineReason::Generic, &mut self.background);
        }
        if self.incoming.receive(&challenge, self.running(), &mut self.background) {
            self.accept(challenge);
        }
    }

    fn accept(&mut self, challenge: Challenge) {
        self.slots.accept(challenge.id, SlotKind::of(&challenge), Instant::now());
        let load = self.load();
        let ours = self.outgoing.as_mut().and_then(|outgoing| outgoing.withdraw(load));
        self.incoming.accept(challenge, ours);
    }

    fn accepted(&mut self, reply: Accepted) -> Result<(), HttpError> {
        let id = reply.0.id;
        if let Acceptance::Failed(limit) = self.incoming.accepted(reply, &mut self.background)? {
            self.slots.release(id);
            self.pause_bots(limit);
        }
        Ok(())
    }

    fn handle_outgoing(&mut self, reply: outgoing::Reply) {
        let load = self.load();
        let limit = self.outgoing.as_mut().and_then(|outgoing| outgoing.handle(reply, load));
        self.pause_bots(limit);
    }

    /// Plays no bots while we have reached the limit of such games.
    fn pause_bots(&mut self, limit: Option<BotLimit>) {
        let Some(BotLimit::Ours(wait)) = limit else { return };
        let wait = wait.min(DAY);
        warn!("limit of games against bots reached: the next one in {}", humantime::format_duration(wait));
        self.incoming.queue.pause_bots(Instant::now() + wait);
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.pause(wait);
        }
    }

    /// A game runs, by an event or by the list of running games, and perhaps by both.
    fn game_started(&mut self, event: &GameEvent) {
        let id = event.game_id;
        let is_playable = event.compat.is_none_or(|compat| compat.bot);
        if self.games.contains_key(&id) || event.status.is_over() || !is_playable {
            debug!("nothing to do for game {id}");
            return self.slots.release(id.into());
        }
        if event.speed == Some(Speed::Correspondence) {
            // Suspended until it is our turn.
            self.slots.release(id.into());
            if !self.suspended.contains(id) {
                self.is_our_challenge(event);
            }
            return self.suspended.update(event, Instant::now());
        }
        let is_ours = self.is_our_challenge(event);
        if self.is_leaving && !self.slots.is_accepted(id) && !event.has_moved {
            info!("leaving: game {id} is aborted");
            return self.background.post(RequestKind::Game, format!("api/bot/game/{id}/abort"), None);
        }
        let signals = self.slots.begin(event, is_ours);
        self.play_game(id, signals);
    }

    fn is_our_challenge(&mut self, event: &GameEvent) -> bool {
        self.outgoing.as_mut().is_some_and(|outgoing| outgoing.game_started(event))
    }

    fn play_game(&mut self, id: GameId, signals: GameSignals) {
        let (sender, opponent) = oneshot::channel();
        let signals = GameSignals { opponent: Some(sender), ..signals };
        self.lookups.spawn(async move { Lookup::Opponent(id, opponent.await.ok()) });
        let span = info_span!("game", id = %id);
        self.games.spawn(id, game::play(self.context.clone(), id, signals).instrument(span));
    }

    /// Resumes suspended games in which there is something to do, as far as there is room.
    fn resume_games(&mut self, now: Instant) {
        if self.suspended.due().is_some_and(|due| due <= now) {
            self.list_games(Duration::ZERO);
        }
        while self.slots.active_correspondence() < self.config.correspondence.max_active.get() {
            let Some(id) = self.suspended.resume() else { return };
            let signals = self.slots.resume(id);
            self.play_game(id, signals);
        }
        if self.suspended.has_due() {
            self.slots.request_slots();
        }
    }

    /// Counts the slots in use, those of suspended games included.
    fn running(&self) -> RunningGames {
        let running = self.slots.running();
        RunningGames { correspondence: running.correspondence + self.suspended.len(), ..running }
    }

    fn load(&self) -> Load {
        let running = self.running();
        let has_room = !self.is_leaving && self.incoming.queue.has_room(running, SlotKind::Bot);
        Load { running, has_room }
    }

    fn game_ended(&mut self, id: GameId, end: Option<GameEnd>) -> Result<(), HttpError> {
        if let Some(tournament) = self.slots.end(id) {
            self.teams.game_ended(tournament);
        }
        match end {
            Some(GameEnd::Over) => self.count_game(),
            Some(GameEnd::Unplayed) => {}
            Some(GameEnd::Suspended) => self.suspended.suspend(id, Instant::now()),
            Some(GameEnd::Unauthorized) => return Err(HttpError::Unauthorized),
            None => {
                error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games has it.
                self.list_games(LOOKUP_DELAY);
            }
        }
        Ok(())
    }

    fn count_game(&mut self) {
        let Some(remaining) = &mut self.remaining else { return };
        *remaining = remaining.saturating_sub(1);
        self.incoming.queue.set_remaining(*remaining);
        if *remaining == 0 && !self.is_leaving {
            info!("all games are played");
            self.leave();
        }
    }

    /// Looks up the running games: events may have been missed.
    fn list_games(&mut self, delay: Duration) {
        self.suspended.listing(Instant::now() + delay);
        let http = self.context.http.clone();
        self.lookups.spawn(async move {
            sleep(delay).await;
            let path = format!("api/account/playing?nb={MAX_LISTED}");
            Lookup::Playing(http.get(RequestKind::Lookup, &path).await)
        });
    }

    /// Asks whether the server sees us online. This also keeps a connection warm.
    fn check_online(&mut self) {
        let http = self.context.http.clone();
        let path = format!("api/users/status?ids={}", self.context.me);
        self.lookups.spawn(async move { Lookup::Online(http.get(RequestKind::Lookup, &path).await) });
    }

    fn looked_up(&mut self, reply: Lookup) -> Result<(), HttpError> {
        match reply {
            Lookup::Playing(Ok(Playing { now_playing })) => {
                now_playing.iter().for_each(|game| self.game_started(game));
                self.suspended.listed(&now_playing, MAX_LISTED, Instant::now());
            }
            Lookup::Playing(Err(HttpError::Unauthorized)) => return Err(HttpError::Unauthorized),
            Lookup::Playing(Err(error)) => {
                self.context.http.warn_failure(&error, format_args!("cannot list running games: {error}"));
                self.list_games(LOOKUP_DELAY);
            }
            Lookup::Online(Ok(statuses)) => {
                let ours = statuses.iter().find(|status| status.id == self.context.me);
                self.seen_online(ours.is_some_and(|status| status.online));
            }
            Lookup::Online(Err(error)) => debug!("cannot check whether we are online: {error}"),
            Lookup::Opponent(id, Some(opponent)) => self.slots.set_opponent(id, opponent),
            Lookup::Opponent(_, None) => {}
        }
        Ok(())
    }

    /// Opens the event stream again if the server does not see us although it seems to be open.
    fn seen_online(&mut self, is_online: bool) {
        if is_online || self.opened.elapsed() < self.config.timeouts.online_check {
            return;
        }
        warn!("the server does not see us online although the event stream is open; reconnecting");
        self.opened = Instant::now();
        let http = self.context.http.clone();
        self.events = Stream::follow(http, RequestKind::EventStream, EVENTS.to_owned());
    }
}

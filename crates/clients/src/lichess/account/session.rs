//! The session of an account: dispatches its events to challenges, games, matchmaking and teams.
//!
//! A slot is free again when its game's task has ended, in whatever way.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::oneshot,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::task::JoinMap;
use tracing::{Instrument, debug, error, info, info_span, warn};
use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{
    Challenge, Compat, DeclineReason, Direction, Event, GameEvent, GameId, Speed, UserId, UserStatus,
};

use super::{game_starts::GameStarts, slots::GameSlots, suspended::SuspendedGames, token_check::is_revoked};
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
        playing::{Listing, MAX_LISTED},
        teams::{joining::Teams, schedule::Schedule},
    },
    wait::{now, or_never},
};

/// Between two requests while games run, so that no move waits for a new connection.
const KEEP_WARM: Duration = Duration::from_secs(45);
/// For the last requests when the session ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time without a look at what is due.
const DAY: Duration = Duration::from_secs(86_400);
/// Before a failed look-up is repeated.
const LOOKUP_DELAY: Duration = Duration::from_secs(2);
/// Between two checks of a token that is good although the server refuses some requests.
const TOKEN_CHECK_PERIOD: Duration = Duration::from_secs(60);
/// Aborts that wait for each other.
const MAX_ABORTS: usize = 64;

enum Lookup {
    /// The running games, and those without news for too long.
    Playing(Vec<GameId>, Result<Arc<Vec<GameEvent>>, HttpError>),
    /// Whether the token is revoked.
    Token(bool),
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
    starts: GameStarts,
    suspended: SuspendedGames,
    incoming: IncomingChallenges,
    outgoing: Option<OutgoingChallenges>,
    teams: Teams,
    lookups: Tasks<Lookup>,
    background: Background,
    /// Games that may still begin or end, if they are counted.
    remaining: Option<u32>,
    is_leaving: bool,
    is_checking_token: bool,
}

impl<'a> Account<'a> {
    pub(crate) async fn new(
        config: &'a Config,
        context: GameContext,
        players: PlayerLists,
        shutdown: &'a Shutdown,
    ) -> Account<'a> {
        let (now, http) = (now(), &context.http);
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
            events: Stream::of_account(http.clone()),
            opened: now,
            checked: now,
            shutdown,
            games: JoinMap::new(),
            slots: GameSlots::default(),
            starts: GameStarts::default(),
            suspended: SuspendedGames::new(config.correspondence.checkin_period, now),
            incoming: IncomingChallenges::new(http.clone(), queue),
            outgoing,
            teams: Teams::new(http.clone(), Schedule::new(&config.team, &config.tournament, now)),
            lookups: Tasks::default(),
            background: Background::new(http.clone()),
            remaining,
            is_leaving: false,
            is_checking_token: false,
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
                Some((id, end)) = self.games.join_next() => self.game_ended(id, end.ok()),
                reply = self.incoming.accepting.next() => self.accepted(reply),
                reply = or_never(self.outgoing.as_mut().map(|outgoing| outgoing.requests.next())) => self.handle_outgoing(reply),
                reply = self.teams.requests.next() => self.teams.handle(reply),
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
            self.outgoing.as_ref().map(|outgoing| outgoing.due),
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
            loop {
                let (running, games_with) = (self.running(), games_with(&self.slots, &self.suspended));
                let Some(challenge) = self.incoming.queue.next(running, games_with, now) else { break };
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
                if !self.suspended.finish(game.game_id, now()) {
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
        let (running, games_with) = (self.running(), games_with(&self.slots, &self.suspended));
        if self.incoming.receive(&challenge, running, games_with, &mut self.background) {
            self.accept(challenge);
        }
    }

    fn accept(&mut self, challenge: Challenge) {
        let opponent = challenge.challenger.as_ref().map(|user| user.id.clone());
        self.slots.accept(challenge.id, SlotKind::of(&challenge), opponent, now());
        let load = self.load();
        let ours = self.outgoing.as_mut().and_then(|outgoing| outgoing.withdraw(load));
        self.incoming.accept(challenge, ours);
    }

    fn accepted(&mut self, reply: Accepted) {
        let id = reply.0.id;
        if let Acceptance::Failed(limit) = self.incoming.accepted(reply, &mut self.background) {
            self.slots.release(id);
            self.pause_bots(limit);
        }
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
        self.incoming.queue.pause_bots(now() + wait);
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
        if event.speed == Some(Speed::Correspondence) || self.suspended.contains(id) {
            // Suspended until it is our turn.
            self.slots.release(id.into());
            if !self.suspended.contains(id) {
                self.is_our_challenge(event);
            }
            return self.suspended.update(event, now());
        }
        if !self.starts.admit(self.games.len(), now()) {
            self.slots.release(id.into());
            return debug!("too many games begin; {id} has to wait");
        }
        let is_ours = self.is_our_challenge(event);
        if self.is_leaving && !self.slots.is_accepted(id) && !event.has_moved {
            return self.abort(id);
        }
        let signals = self.slots.begin(event, is_ours);
        self.play_game(id, signals);
    }

    /// Aborts a game that begins while we leave.
    fn abort(&mut self, id: GameId) {
        if self.background.len() >= MAX_ABORTS {
            self.starts.postpone(now());
            return debug!("leaving: game {id} is not aborted: too many are being aborted");
        }
        info!("leaving: game {id} is aborted");
        self.background.post(RequestKind::Abort, format!("api/bot/game/{id}/abort"), None);
    }

    fn is_our_challenge(&mut self, event: &GameEvent) -> bool {
        self.outgoing.as_mut().is_some_and(|outgoing| outgoing.game_started(event))
    }

    fn play_game(&mut self, id: GameId, signals: GameSignals) {
        let (sender, opponent) = oneshot::channel();
        let signals = GameSignals { opponent: Some(sender), ..signals };
        if self.slots.kind(id) != Some(SlotKind::Correspondence) {
            self.context.http.clocks().begin(id, now());
        }
        self.lookups.spawn(async move { Lookup::Opponent(id, opponent.await.ok()) });
        let span = info_span!("game", id = %id);
        self.games.spawn(id, game::play(self.context.clone(), id, signals).instrument(span));
    }

    /// Resumes suspended games in which there is something to do, as far as there is room.
    fn resume_games(&mut self, now: Instant) {
        if self.suspended.due().is_some_and(|due| due <= now) {
            self.list_games(Vec::new(), Duration::ZERO);
        }
        let max_active = self.config.correspondence.max_active.get();
        while let Some((id, slot, opponent)) =
            self.suspended.resume(self.slots.active_correspondence() < max_active)
        {
            let signals = self.slots.resume(id, slot, opponent);
            self.play_game(id, signals);
        }
        if self.suspended.has_due() {
            self.slots.request_slots();
        }
    }

    /// Counts the slots in use, those of suspended games included.
    fn running(&self) -> RunningGames {
        let running = self.slots.running();
        RunningGames { correspondence: running.correspondence + self.suspended.correspondence(), ..running }
    }

    fn load(&self) -> Load {
        let running = self.running();
        let has_room = !self.is_leaving && self.incoming.queue.has_room(running, SlotKind::Bot);
        let has_correspondence_room = self.incoming.queue.has_room(running, SlotKind::Correspondence);
        Load { running, has_room, has_correspondence_room }
    }

    fn game_ended(&mut self, id: GameId, end: Option<GameEnd>) {
        self.context.http.clocks().end(id);
        let slot = self.slots.kind(id).unwrap_or(SlotKind::Correspondence);
        let opponent = self.slots.opponent(id);
        if let Some(tournament) = self.slots.end(id) {
            self.teams.game_ended(tournament);
        }
        match end {
            Some(GameEnd::Over) => self.count_game(),
            Some(GameEnd::Unplayed) => {}
            Some(GameEnd::Suspended) => self.suspended.suspend(id, slot, opponent, now()),
            None => {
                error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games has it.
                self.list_games(Vec::new(), LOOKUP_DELAY);
            }
        }
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

    /// Looks up the running games: events may have been missed. Games without news are looked for in the list.
    fn list_games(&mut self, overdue: Vec<GameId>, delay: Duration) {
        self.suspended.listing(now() + delay);
        let http = self.context.http.clone();
        self.lookups.spawn(async move {
            sleep(delay).await;
            Lookup::Playing(overdue, http.running_games().await)
        });
    }

    /// Ends the games that the server does not list any more.
    fn games_listed(&mut self, overdue: &[GameId], list: &[GameEvent]) {
        for &id in overdue.iter().filter(|id| Listing::of(**id, list) == Listing::Gone) {
            info!("game {id} is over, as the server lists it no more");
            self.slots.finish(id, "unknown: the server lists it no more".to_owned());
        }
        list.iter().for_each(|game| self.game_started(game));
        self.suspended.listed(list, MAX_LISTED, now());
    }

    /// Checks the token after a 401, once at a time.
    fn check_token(&mut self) {
        self.is_checking_token = true;
        let http = self.context.http.clone();
        self.lookups.spawn(async move {
            let is_revoked = is_revoked(&http).await;
            if !is_revoked {
                let message =
                    format_args!("the server refused a request as unauthorised, but our token is good");
                http.log().warn("requests refused although our token is good", message);
                sleep(TOKEN_CHECK_PERIOD).await;
            }
            Lookup::Token(is_revoked)
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
            Lookup::Playing(overdue, Ok(list)) => self.games_listed(&overdue, &list),
            Lookup::Playing(overdue, Err(error)) => {
                self.context.http.warn_failure(&error, format_args!("cannot list running games: {error}"));
                self.list_games(overdue, LOOKUP_DELAY);
            }
            Lookup::Token(true) => return Err(HttpError::Unauthorized),
            Lookup::Token(false) => self.is_checking_token = false,
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
        if is_online || now().saturating_duration_since(self.opened) < self.config.timeouts.online_check {
            return;
        }
        warn!("the server does not see us online although the event stream is open; reconnecting");
        self.opened = now();
        self.events = Stream::of_account(self.context.http.clone());
    }
}

/// Counts the games with a player, suspended ones included.
fn games_with(slots: &GameSlots, suspended: &SuspendedGames) -> impl Fn(&UserId) -> usize {
    move |player| slots.games_with(player) + suspended.games_with(player)
}

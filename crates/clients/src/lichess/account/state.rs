//! State machine of an account: takes what happens, and returns what is to be done. No I/O and no clock.
//!
//! `challenges`, `games`, `lookups` and `orders` hold what it does about each. A slot is free again when its game's task
//! has ended, in whatever way.

use std::{
    collections::BTreeSet,
    mem,
    time::{Duration, Instant},
};

use tracing::{debug, info};
use zeitnot_seat::Seats;
use zeitnot_wire::lichess::{Event, GameId, UserId};

use super::{
    game_starts::GameStarts,
    interface::{Effect, Input, Reply, Request},
    lookup::Lookup,
    slots::{ACCEPTANCE_TIMEOUT, GameSlots},
    suspended::SuspendedGames,
};
use crate::lichess::{
    Config, HttpError,
    challenges::{
        capacity::{Capacity, RunningGames, SlotKind},
        incoming::IncomingChallenges,
        players::PlayerLists,
        queue::ChallengeQueue,
    },
    game::result::GameFinish,
    matchmaking::{
        decline_history::DeclineHistory,
        outgoing::{Load, OutgoingChallenges},
    },
    teams::schedule::Schedule,
};

mod challenges;
mod games;
mod lookups;
mod orders;

/// The longest time without a look at what is due.
const DAY: Duration = Duration::from_secs(86_400);
/// Bounds of the delay after a failed look-up of the running games, or of our online status.
const MIN_LOOKUP_DELAY: Duration = Duration::from_secs(2);
const MAX_LOOKUP_DELAY: Duration = Duration::from_secs(60);

/// Initial data of an account.
#[derive(Debug)]
pub struct AccountSetup {
    /// Its table of the configuration.
    pub config: Config,
    /// Our name.
    pub me: UserId,
    /// Players that are accepted and challenged.
    pub players: PlayerLists,
    /// History of challenges; `None`: it is not kept between runs.
    pub history: Option<DeclineHistory>,
    /// Seats of the lobby.
    pub seats: Seats,
    /// Seed of all random choices.
    pub seed: u64,
    /// Present time since 1970, as the history counts it.
    pub unix_time: Duration,
}

/// State of an account.
#[derive(Debug)]
pub struct AccountState {
    config: Config,
    me: UserId,
    players: PlayerLists,
    slots: GameSlots,
    starts: GameStarts,
    suspended: SuspendedGames,
    incoming: IncomingChallenges,
    outgoing: OutgoingChallenges,
    teams: Schedule,
    /// Look-up of the running games, and those without news for too long.
    playing: Lookup,
    overdue: BTreeSet<GameId>,
    /// Check of the token, and refusals of it in a row.
    token: Lookup,
    refusals: u32,
    /// Check of our online status, and the last one.
    online: Lookup,
    checked: Instant,
    /// Last opening of the event stream.
    opened: Instant,
    stage: Stage,
    /// Games that are being aborted.
    aborting: usize,
    /// Names of those who wait, as they were told last.
    waiting: Vec<String>,
    random: fastrand::Rng,
    now: Instant,
    effects: Vec<Effect>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Playing,
    /// No new games.
    Leaving,
    Left,
}

impl AccountState {
    /// Creates an account whose event stream is not open yet.
    pub fn new(setup: AccountSetup, now: Instant) -> AccountState {
        let AccountSetup { config, me, players, history, seats, seed, unix_time } = setup;
        let mut random = fastrand::Rng::with_seed(seed);
        let server = config.url.to_string();
        let mut queue = ChallengeQueue::new(config.challenge.clone(), Capacity::new(seats), players.clone());
        config.games.into_iter().for_each(|games| queue.capacity.set_remaining(games.get()));
        let matchmaking = config.matchmaking.as_ref();
        let (lists, name) = (players.clone(), server.clone());
        let clock = (now, unix_time);
        let reconnect = &config.timeouts.reconnect;
        let mut state = AccountState {
            outgoing: OutgoingChallenges::new(matchmaking, history, lists, name, clock, random.fork()),
            incoming: IncomingChallenges::new(queue, server),
            teams: Schedule::new(&config.team, &config.tournament, now),
            slots: GameSlots::default(),
            starts: GameStarts::default(),
            suspended: SuspendedGames::new(config.correspondence.checkin_period, now),
            playing: Lookup::new(MIN_LOOKUP_DELAY, MAX_LOOKUP_DELAY),
            overdue: BTreeSet::new(),
            token: Lookup::new(reconnect.min_delay, reconnect.max_delay),
            refusals: 0,
            online: Lookup::new(MIN_LOOKUP_DELAY, MAX_LOOKUP_DELAY),
            checked: now,
            opened: now,
            stage: Stage::Playing,
            aborting: 0,
            waiting: Vec::new(),
            random,
            now,
            effects: Vec::new(),
            config,
            me,
            players,
        };
        state.set_limits();
        state
    }

    fn set_limits(&mut self) {
        let Config { concurrency, correspondence, challenge, .. } = &self.config;
        let capacity = &mut self.incoming.queue.capacity;
        capacity.set_limits(*concurrency, correspondence.max_games, challenge.reserved_for_humans);
    }

    /// Takes note of something, and returns what is to be done.
    pub fn on(&mut self, input: Input, now: Instant) -> Vec<Effect> {
        self.now = now;
        if self.stage == Stage::Left {
            self.on_leaving(input);
        } else {
            self.give_seats();
            self.take(input);
            self.update();
        }
        mem::take(&mut self.effects)
    }

    /// Writes what is not written yet.
    fn on_leaving(&mut self, input: Input) {
        if let Input::Reply(Reply::Saved(result)) = input {
            self.outgoing.saved(result);
            self.outgoing.save(&mut self.effects);
        }
    }

    fn take(&mut self, input: Input) {
        let now = self.now;
        match input {
            Input::StreamOpened => self.stream_opened(),
            Input::StreamClosed(error) => self.leave(Err(error)),
            Input::Event(event) => self.event(event),
            Input::Reply(reply) => self.reply(reply),
            Input::Unauthorized => self.unauthorized(),
            Input::Overdue(games) => self.overdue(games),
            Input::OpponentKnown(id, opponent) => self.slots.set_opponent(id, opponent),
            Input::GameEnded(id, end) => self.game_ended(id, end),
            Input::Order(order) => {
                let answer = self.carry_out(order);
                self.effects.push(Effect::Answer(answer));
            }
            Input::Reconfigured(config) => {
                self.config.take_over(*config);
                self.incoming.queue.reconfigure(self.config.challenge.clone());
                self.outgoing.reconfigure(self.config.matchmaking.clone(), now);
                self.set_limits();
            }
            Input::Stop => self.stop(),
            Input::Wake => {}
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::GameStart { game } => self.game_started(&game),
            Event::GameFinish { game } => {
                if !self.suspended.finish(game.game_id, self.now) {
                    let finish = GameFinish::Told { status: game.status, winner: game.winner };
                    self.finish(game.game_id, finish);
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
                self.outgoing.declined(&challenge, self.now, &mut self.effects);
            }
            Event::ChallengeCanceled { challenge } => {
                self.outgoing.cancelled(challenge.id, self.now, &mut self.effects);
            }
            Event::Challenge { .. } | Event::ChallengeDeclined { .. } => {}
            Event::Other(unknown) => debug!("ignored: {:?}", unknown.kind),
        }
    }

    fn reply(&mut self, reply: Reply) {
        let now = self.now;
        match reply {
            Reply::RunningGames(result) => self.games_listed(result),
            Reply::Token(result) => self.token_checked(result),
            Reply::Online(result) => self.online_checked(result),
            Reply::Opponents(result) => {
                let load = self.load();
                let capacity = &mut self.incoming.queue.capacity;
                self.outgoing.looked_up(result, load, capacity, now, &mut self.effects);
            }
            Reply::Accepted(id, result) => self.accepted(id, result),
            Reply::Created(result) => {
                let limit = self.outgoing.created(result, now, &mut self.effects);
                self.pause_bots(limit);
            }
            Reply::ChallengeEnded(id, end) => self.our_challenge_ended(id, end),
            Reply::Team(id, result) => self.teams.team_joined(&id, result),
            Reply::Tournament(id, result) => self.teams.looked_up(id, result, now),
            Reply::Joined(id, result) => self.teams.joined(id, result),
            Reply::Saved(result) => self.outgoing.saved(result),
            Reply::Declined => self.incoming.declined(),
            Reply::Aborted => self.aborting = self.aborting.saturating_sub(1),
            Reply::Done => {}
        }
    }

    /// Returns when an [`Input::Wake`] is due, if nothing happens before.
    pub fn due(&self) -> Option<Instant> {
        let is_playing = self.stage == Stage::Playing;
        let times = [
            Some(self.check_due()).filter(|_| !self.online.is_running()),
            self.slots.due(),
            self.starts.due(),
            self.playing.due(),
            self.token.due(),
            self.online.due(),
            self.give_up_due(),
            Some(self.outgoing.due()),
            self.teams.due(self.now).filter(|_| is_playing),
            self.suspended.due().filter(|_| is_playing),
        ];
        times.into_iter().flatten().min().filter(|_| self.stage != Stage::Left)
    }

    /// Does everything that time, free slots and free seats make due.
    fn update(&mut self) {
        let now = self.now;
        let expired = self.slots.expire(ACCEPTANCE_TIMEOUT, now);
        if expired > 0 {
            info!("{expired} accepted challenges never became games");
        }
        // A challenge may have become a game without the stream telling it.
        if self.starts.take_due(now) || expired > 0 {
            self.list_games(now);
        }
        self.give_up_late();
        self.give_seats();
        if self.stage == Stage::Playing {
            self.resume_games();
            self.accept_waiting();
            self.continue_series();
            let has_room = self.has_room(SlotKind::Human);
            let slots = &self.slots;
            self.teams.update(|id| has_room && !slots.plays_in(id), now, &mut self.effects);
        }
        self.outgoing.update(self.load(), now, &mut self.effects);
        let capacity = &mut self.incoming.queue.capacity;
        if self.outgoing.is_open() {
            // It may have given its seat up before the server knew it.
            capacity.reserve_for_proposal();
        } else {
            capacity.take_proposed();
        }
        self.look_up();
        self.tell_waiting();
        if self.stage == Stage::Leaving && self.slots.is_empty() {
            self.leave(Ok(()));
        }
    }

    fn tell_waiting(&mut self) {
        let names = self.incoming.waiting_names();
        if names != self.waiting {
            self.waiting.clone_from(&names);
            self.effects.push(Effect::Waiting(names));
        }
    }

    /// Takes no new games. The running ones are finished, unless they cannot be any more.
    fn stop(&mut self) {
        if self.stage != Stage::Playing {
            return;
        }
        info!("{}", self.leaving());
        self.begin_leaving();
    }

    /// Returns the line of the log that says what we still wait for.
    fn leaving(&self) -> String {
        let accepted = match self.slots.accepted() {
            0 => String::new(),
            1 => ", and 1 accepted challenge may still become a game".to_owned(),
            more => format!(", and {more} accepted challenges may still become games"),
        };
        format!("taking no new games; {} running{accepted}", self.slots.running_tasks())
    }

    fn begin_leaving(&mut self) {
        self.stage = Stage::Leaving;
        self.outgoing.end_series("the bot is leaving");
        self.incoming.close(&mut self.effects);
        self.teams.close(&mut self.effects);
        self.request_slots();
        self.slots.expect_all(self.now);
        if !self.slots.is_empty() {
            // Whether their games still run decides how long to wait.
            self.playing.retry();
            self.list_games(self.now);
        }
    }

    fn leave(&mut self, result: Result<(), HttpError>) {
        if self.stage != Stage::Left {
            self.stage = Stage::Left;
            self.outgoing.save(&mut self.effects);
            self.effects.push(Effect::Leave(result));
        }
    }

    /// Counts the slots in use, those of suspended games included.
    fn running(&self) -> RunningGames {
        let running = self.slots.running();
        RunningGames { correspondence: running.correspondence + self.suspended.correspondence(), ..running }
    }

    fn has_room(&self, slot: SlotKind) -> bool {
        self.incoming.queue.capacity.has_room(self.running(), slot)
    }

    fn load(&self) -> Load {
        Load {
            running: self.running(),
            has_room: self.stage == Stage::Playing && self.has_room(SlotKind::Bot),
            has_correspondence_room: self.has_room(SlotKind::Correspondence),
        }
    }

    fn send(&mut self, request: Request) {
        self.effects.push(Effect::Send(request));
    }
}

#[cfg(test)]
mod tests;

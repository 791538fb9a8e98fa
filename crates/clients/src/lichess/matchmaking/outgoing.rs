//! Outgoing challenges: what the [`Matchmaker`] wants is requested, and the outcome reported. No I/O and no clock.

use std::{
    io,
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};
use zeitnot_seat::{ChallengeState, News, OwnChallenge};
use zeitnot_wire::lichess::{
    Challenge, ChallengeEnd, ChallengeId, GameEvent, NewChallenge, TimeControl, User, UserId,
};

use super::{
    config::Config,
    decline_history::DeclineHistory,
    matchmaker::{Matchmaker, Step},
    not_now::{NotNow, time},
    proposal::Proposal,
    steady_clock::SteadyClock,
};
use crate::lichess::{
    BotLimit, HttpError,
    account::{
        interface::{Effect, Request},
        lookup::Lookup,
    },
    challenges::{
        capacity::{Capacity, RunningGames, SlotKind},
        players::PlayerLists,
    },
    recent::RecentTimes,
    terms::terms,
};

/// Bounds of the time between two questions to the matchmaker while nothing happens.
const MIN_PERIOD: Duration = Duration::from_millis(100);
const MAX_PERIOD: Duration = Duration::from_secs(86_400);
/// Longest reason of a decline that is shown, in bytes.
const MAX_REASON: usize = 200;
/// Bounds of the delay after a failed look at the bots online.
const MIN_DELAY: Duration = Duration::from_secs(5);
const MAX_DELAY: Duration = Duration::from_secs(120);
/// Declines in a minute that are logged. We send few challenges, but a server may tell of any number.
const MAX_DECLINES: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);

/// Use of the account's slots.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Load {
    pub(crate) running: RunningGames,
    /// Another game against a bot could begin.
    pub(crate) has_room: bool,
    /// Another correspondence game could begin.
    pub(crate) has_correspondence_room: bool,
}

#[derive(Debug)]
pub(crate) struct OutgoingChallenges {
    server: String,
    /// Clock of the matchmaker.
    clock: SteadyClock,
    matchmaker: Matchmaker,
    players: PlayerLists,
    /// The open challenge, as it was reported.
    reported: Option<OwnChallenge>,
    /// Slot that its game would take.
    slot: SlotKind,
    /// The history is kept between runs.
    is_kept: bool,
    /// The matchmaker is asked again then, unless something happens before.
    ask_at: Instant,
    opponents: Lookup,
    is_saving: bool,
    /// Declines that were logged.
    declines: RecentTimes,
    random: fastrand::Rng,
}

impl OutgoingChallenges {
    /// Without a configuration, only those are challenged whom the owner chooses.
    pub(crate) fn new(
        config: Option<&Config>,
        history: Option<DeclineHistory>,
        players: PlayerLists,
        server: String,
        (now, unix_time): (Instant, Duration),
        mut random: fastrand::Rng,
    ) -> OutgoingChallenges {
        let clock = SteadyClock::new(now, unix_time);
        let is_kept = history.is_some();
        let settings = config.cloned().unwrap_or_default();
        let history = history.unwrap_or_default();
        let matchmaker = Matchmaker::new(settings, history, random.u64(..), clock.at(now));
        OutgoingChallenges {
            server,
            clock,
            matchmaker: if config.is_some() { matchmaker } else { matchmaker.by_order_only() },
            players,
            reported: None,
            slot: SlotKind::Bot,
            is_kept,
            ask_at: now,
            opponents: Lookup::new(MIN_DELAY, MAX_DELAY),
            is_saving: false,
            declines: RecentTimes::default(),
            random,
        }
    }

    /// Goes on by another configuration. The history stays in its file.
    pub(crate) fn reconfigure(&mut self, config: Option<Config>, now: Instant) {
        self.matchmaker.reconfigure(config);
        self.ask_at = now;
    }

    pub(crate) fn due(&self) -> Instant {
        self.opponents.due().map_or(self.ask_at, |due| due.min(self.ask_at))
    }

    /// Returns whether a challenge of ours is open.
    pub(crate) fn is_open(&self) -> bool {
        self.matchmaker.challenged().is_some()
    }

    pub(crate) fn update(&mut self, load: Load, now: Instant, effects: &mut Vec<Effect>) {
        if let Some(id) = self.step(load, now, effects) {
            effects.push(Effect::Send(Request::Cancel(id)));
        }
        if self.opponents.begin(now) {
            effects.push(Effect::Send(Request::Opponents));
        }
        self.save(effects);
    }

    /// Returns our challenge if there is no slot left for its game; the caller cancels it.
    pub(crate) fn withdraw(
        &mut self,
        load: Load,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<ChallengeId> {
        if load.has_room { None } else { self.step(load, now, effects) }
    }

    /// Takes the matchmaker's next step. Returns a challenge to be cancelled.
    fn step(&mut self, load: Load, now: Instant, effects: &mut Vec<Effect>) -> Option<ChallengeId> {
        let time = self.clock.at(now);
        let step = self.matchmaker.step(load.running.with_clock(), load.has_room, time);
        self.settle(effects, || match load.has_room {
            true => "no answer in time".to_owned(),
            false => "withdrawn: another game took the slot".to_owned(),
        });
        self.ask_at = now + MAX_PERIOD;
        match step {
            Step::Wait { until } => {
                self.ask_at = now + until.saturating_sub(time).clamp(MIN_PERIOD, MAX_PERIOD);
                None
            }
            Step::Cancel(id) => {
                self.ask_at = now;
                Some(id)
            }
            Step::LookUp => {
                if !self.opponents.is_running() {
                    self.opponents.want(now);
                }
                None
            }
        }
    }

    pub(crate) fn looked_up(
        &mut self,
        result: Result<(Box<User>, Vec<User>), HttpError>,
        load: Load,
        capacity: &mut Capacity,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let time = self.clock.at(now);
        let (me, online) = match result {
            Ok(listed) => listed,
            Err(error) => {
                self.opponents.failed(&error, now, &mut self.random);
                self.matchmaker.lookup_failed(time);
                return warn!("cannot look up opponents: {error}");
            }
        };
        self.opponents.succeeded();
        let is_wanted = self.matchmaker.step(load.running.with_clock(), load.has_room, time) == Step::LookUp;
        if !is_wanted || !capacity.reserve_for_proposal() {
            return;
        }
        let room = load.has_correspondence_room;
        match self.matchmaker.choose(&me, &online, &self.players, room, time) {
            Some(proposal) => self.propose(proposal, SlotKind::Bot, effects),
            None => debug!("none of {} bots is suitable", online.len()),
        }
    }

    /// The server has taken our challenge, or not. Returns the limit of games against bots if we have reached it.
    pub(crate) fn created(
        &mut self,
        opponent: &UserId,
        result: Result<ChallengeId, HttpError>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<BotLimit> {
        let time = self.clock.at(now);
        match result {
            // It was withdrawn before the server knew it.
            Ok(id) if self.matchmaker.challenged() != Some(opponent) => {
                effects.push(Effect::Send(Request::Cancel(id)));
            }
            Err(_) if self.matchmaker.challenged() != Some(opponent) => {}
            Ok(id) => {
                self.matchmaker.created(id, time);
                if let Some(reported) = &mut self.reported {
                    reported.id = Some(id.to_string());
                    effects.push(Effect::News(News::Challenging(reported.clone())));
                }
            }
            Err(error) => {
                self.matchmaker.refused(&error, time);
                self.settle(effects, || match error {
                    HttpError::NotFound => "the server knows no such player".to_owned(),
                    _ => error.to_string(),
                });
                match error.bot_limit() {
                    Some(BotLimit::Theirs(_)) => {
                        info!("the opponent has reached its limit of games against bots");
                    }
                    None => warn!("our challenge was not created: {error}{}", pause(&error)),
                    ours => return ours,
                }
            }
        }
        None
    }

    /// A challenge of ours has ended, as the stream that kept it alive tells, or does not. Returns the opponent and the
    /// slot if it was accepted and its game has not begun yet.
    pub(crate) fn ended(
        &mut self,
        id: ChallengeId,
        end: Option<ChallengeEnd>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<(UserId, SlotKind)> {
        match end {
            Some(ChallengeEnd::Accepted) => {
                let accepted = self.matchmaker.challenged().filter(|_| self.matchmaker.is_open(id)).cloned();
                self.accepted(id, now, effects);
                accepted.map(|opponent| (opponent, self.slot))
            }
            Some(end) => {
                self.matchmaker.gone(id, self.clock.at(now));
                // The events tell the reason, now or before.
                self.settle(effects, || end.to_string());
                None
            }
            // The server keeps none alive, or the connection broke: it is cancelled in time.
            None => None,
        }
    }

    /// Challenges a player by order of the owner.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(crate) fn order(
        &mut self,
        opponent: UserId,
        challenge: NewChallenge,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Result<(), NotNow> {
        self.matchmaker.order(&opponent, self.clock.at(now))?;
        self.propose(Proposal { opponent, challenge }, SlotKind::Human, effects);
        Ok(())
    }

    /// Cancels an open challenge to a player.
    pub(crate) fn withdraw_from(&mut self, player: &UserId, now: Instant, effects: &mut Vec<Effect>) {
        let open = self.matchmaker.withdraw_from(player, self.clock.at(now));
        self.settle(effects, || "withdrawn: the player is blocked".to_owned());
        effects.extend(open.map(|id| Effect::Send(Request::Cancel(id))));
    }

    /// Reports the end of our challenge, if it is not open any more.
    fn settle(&mut self, effects: &mut Vec<Effect>, reason: impl FnOnce() -> String) {
        if !self.is_open() {
            self.end(effects, || ChallengeState::Ended(reason()));
        }
    }

    fn end(&mut self, effects: &mut Vec<Effect>, state: impl FnOnce() -> ChallengeState) {
        if let Some(reported) = self.reported.take() {
            effects.push(Effect::News(News::Challenging(OwnChallenge { state: state(), ..reported })));
        }
    }

    fn accepted(&mut self, id: ChallengeId, now: Instant, effects: &mut Vec<Effect>) {
        self.matchmaker.accepted(id, self.clock.at(now));
        if !self.is_open() {
            self.end(effects, || ChallengeState::Accepted);
        }
    }

    fn own(
        &self,
        id: Option<ChallengeId>,
        to: &UserId,
        terms: String,
        state: ChallengeState,
    ) -> OwnChallenge {
        let server = self.server.clone();
        OwnChallenge { server, id: id.map(|id| id.to_string()), to: to.to_string(), terms, state }
    }

    /// Sends a challenge, whose game would take this slot if it has a clock.
    fn propose(&mut self, proposal: Proposal, slot: SlotKind, effects: &mut Vec<Effect>) {
        let Proposal { opponent, mut challenge } = proposal;
        let terms = terms(&challenge.variant, &challenge.time, challenge.rated);
        info!("challenging {opponent}: {terms}");
        let own = self.own(None, &opponent, terms, ChallengeState::Open);
        effects.push(Effect::News(News::Challenging(own.clone())));
        self.reported = Some(own);
        let has_clock = matches!(challenge.time, TimeControl::Clock(_));
        self.slot = if has_clock { slot } else { SlotKind::Correspondence };
        challenge.keep_alive_stream = true;
        effects.push(Effect::Send(Request::Challenge(opponent, Box::new(challenge))));
    }

    /// A challenge of ours, perhaps of an earlier run, was declined.
    pub(crate) fn declined(&mut self, challenge: &Challenge, now: Instant, effects: &mut Vec<Effect>) {
        let reason = challenge.decline_reason_key.as_ref().map_or("generic", |reason| reason.as_str());
        self.matchmaker.declined(challenge, self.clock.at(now));
        let Some(opponent) = &challenge.dest_user else { return };
        if self.declines.count(MINUTE, now) < MAX_DECLINES {
            self.declines.push(now);
            info!("{} declines our challenge: {reason}", opponent.id);
        }
        if !self.is_open() {
            self.reported = None;
        }
        let terms = terms(&challenge.variant.key, &challenge.time_control, challenge.rated);
        // The server's words are for people; the key is short.
        let words = challenge.decline_reason.as_deref().filter(|words| words.len() <= MAX_REASON);
        let state = ChallengeState::Ended(format!("declined: {}", words.unwrap_or(reason)));
        let own = self.own(Some(challenge.id), &opponent.id, terms, state);
        effects.push(Effect::News(News::Challenging(own)));
    }

    pub(crate) fn cancelled(&mut self, id: ChallengeId, now: Instant, effects: &mut Vec<Effect>) {
        self.matchmaker.gone(id, self.clock.at(now));
        self.settle(effects, || ChallengeEnd::Canceled.to_string());
    }

    /// Notes that a game begins. Returns whether it is that of the matchmaker's challenge, and so against a bot.
    pub(crate) fn game_started(
        &mut self,
        event: &GameEvent,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let id = event.game_id.into();
        let is_against_bot = self.matchmaker.has_proposed(id, event.opponent.id.as_ref());
        self.accepted(id, now, effects);
        is_against_bot
    }

    pub(crate) fn pause(&mut self, wait: Duration, now: Instant) {
        self.matchmaker.pause(wait, self.clock.at(now));
    }

    pub(crate) fn saved(&mut self, result: io::Result<()>) {
        self.is_saving = false;
        if let Err(error) = result {
            warn!("cannot write the history of declined challenges: {error}");
        }
    }

    /// Writes what is not written yet, one write at a time.
    pub(crate) fn save(&mut self, effects: &mut Vec<Effect>) {
        if self.is_kept
            && !self.is_saving
            && let Some(history) = self.matchmaker.take_unsaved()
        {
            self.is_saving = true;
            effects.push(Effect::Send(Request::Save(history)));
        }
    }
}

/// Says how long no challenge is sent after this failure, if the server limits them.
fn pause(error: &HttpError) -> String {
    let HttpError::Limited { wait, .. } = error else { return String::new() };
    format!("; the next one in {}", time(wait))
}

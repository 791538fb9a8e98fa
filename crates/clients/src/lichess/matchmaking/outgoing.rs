//! Outgoing challenges, one at a time: to bots when nobody plays us, and by order of the owner. No I/O and no clock.
//!
//! `sending` chooses and sends them, `outcomes` holds their ends, `series` goes on with a series of games.

use std::{
    io, mem,
    time::{Duration, Instant},
};

use tracing::warn;
use zeitnot_seat::ChallengeState;
use zeitnot_wire::lichess::{ChallengeId, UserId};

use self::series::Series;
use super::{config::Config, decline_history::DeclineHistory, not_now::MAX_WAIT};
use crate::lichess::{
    account::{
        interface::{Effect, Request},
        lookup::Lookup,
    },
    challenges::{
        capacity::{RunningGames, SlotKind},
        players::PlayerLists,
    },
    recent::RecentTimes,
};

mod outcomes;
mod sending;
mod series;

/// Bounds of the time between two looks at what is due while nothing happens.
const MIN_PERIOD: Duration = Duration::from_millis(100);
const MAX_PERIOD: Duration = Duration::from_secs(86_400);
/// Longer than any time that counts, so that sums do not overflow.
const FAR: Duration = Duration::from_secs(3650 * 86_400);
/// Life of a challenge of the owner, who may have chosen a person.
const ORDERED_LIFE: Duration = Duration::from_secs(120);
/// Bounds of the delay after a failed look at the bots online.
const MIN_DELAY: Duration = Duration::from_secs(5);
const MAX_DELAY: Duration = Duration::from_secs(120);

/// Use of the account's slots.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Load {
    pub(crate) running: RunningGames,
    /// Another game against a bot could begin.
    pub(crate) has_room: bool,
    /// Another correspondence game could begin.
    pub(crate) has_correspondence_room: bool,
}

impl Load {
    /// Returns whether bots may be challenged without an order.
    fn allows_challenges(self, config: &Config) -> bool {
        let is_busy = self.running.with_clock() > 0 && !config.allow_during_games;
        self.has_room && !is_busy
    }
}

#[derive(Debug)]
pub(crate) struct OutgoingChallenges {
    server: String,
    players: PlayerLists,
    config: Config,
    /// See [`Config::variations`].
    variations: Vec<Config>,
    /// Bots are challenged without an order.
    is_automatic: bool,
    random: fastrand::Rng,
    open: Option<OpenChallenge>,
    /// Games that the owner has ordered, one after another; no bot is challenged without an order meanwhile.
    series: Option<Series>,
    /// A challenge was given up before the server replied. The next one waits for that, so that none pile up.
    awaits_reply: bool,
    /// No challenge without an order before then.
    not_before: Instant,
    /// No challenge at all before then, as the server has told.
    limited_until: Instant,
    /// Next look at what is due, unless something happens before.
    look_at: Instant,
    opponents: Lookup,
    history: DeclineHistory,
    /// The history is kept between runs.
    is_kept: bool,
    is_unsaved: bool,
    is_saving: bool,
    /// Declines that were logged.
    declines: RecentTimes,
    /// An instant, and its time since 1970, from which the history counts. A system clock that is set later changes no
    /// wait.
    clock: (Instant, Duration),
}

/// Our challenge that waits for an answer.
#[derive(Debug)]
struct OpenChallenge {
    /// Its id, once the server has told it.
    id: Option<ChallengeId>,
    opponent: UserId,
    since: Instant,
    /// The owner has ordered it.
    is_ordered: bool,
    /// Slot that its game would take.
    slot: SlotKind,
    /// Game and time, for people.
    terms: String,
}

impl OutgoingChallenges {
    /// Without a configuration, only those are challenged whom the owner chooses.
    pub(crate) fn new(
        config: Option<&Config>,
        history: Option<DeclineHistory>,
        players: PlayerLists,
        server: String,
        clock: (Instant, Duration),
        random: fastrand::Rng,
    ) -> OutgoingChallenges {
        let (now, _) = clock;
        let is_automatic = config.is_some();
        let config = config.cloned().unwrap_or_default();
        OutgoingChallenges {
            server,
            players,
            variations: config.variations(),
            is_automatic,
            random,
            open: None,
            series: None,
            awaits_reply: false,
            not_before: now + config.challenge_timeout.min(FAR),
            limited_until: now,
            look_at: now,
            opponents: Lookup::new(MIN_DELAY, MAX_DELAY),
            is_kept: history.is_some(),
            history: history.unwrap_or_default(),
            is_unsaved: false,
            is_saving: false,
            declines: RecentTimes::default(),
            clock,
            config,
        }
    }

    /// Goes on by another configuration. The history stays in its file.
    pub(crate) fn reconfigure(&mut self, config: Option<Config>, now: Instant) {
        self.is_automatic = config.is_some();
        self.config = config.unwrap_or_default();
        self.variations = self.config.variations();
        self.look_at = now;
    }

    pub(crate) fn due(&self) -> Instant {
        self.opponents.due().map_or(self.look_at, |due| due.min(self.look_at))
    }

    /// Returns whether a challenge of ours is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Does what is due: cancels a challenge, or looks for an opponent.
    pub(crate) fn update(&mut self, load: Load, now: Instant, effects: &mut Vec<Effect>) {
        if !load.allows_challenges(&self.config) {
            self.delay(self.config.challenge_timeout, now);
        }
        if let Some(id) = self.expire(load.has_room, now, effects) {
            effects.push(Effect::Send(Request::Cancel(id)));
        }
        let next = if let Some(open) = &self.open {
            self.end_of(open)
        } else if let Some(series) = &self.series {
            series.due(now).unwrap_or(now + MAX_PERIOD)
        } else if self.awaits_reply || !self.is_automatic {
            now + MAX_PERIOD
        } else if self.may_challenge(load, now) {
            if !self.opponents.is_running() {
                self.opponents.want(now);
            }
            now + MAX_PERIOD
        } else {
            self.not_before.max(self.next_allowed(now))
        };
        self.look_at = next.clamp(now + MIN_PERIOD, now + MAX_PERIOD);
        if self.opponents.begin(now) {
            effects.push(Effect::Send(Request::Opponents));
        }
        self.save(effects);
    }

    /// Closes our challenge if there is no slot left for its game, or no answer in time. Returns it if the server knows
    /// it; the caller cancels it.
    pub(crate) fn expire(
        &mut self,
        has_room: bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<ChallengeId> {
        let open = self.open.as_ref()?;
        // If it were accepted now, that would be one game too many.
        let is_in_the_way = !has_room && open.id.is_some();
        if !is_in_the_way && now < self.end_of(open) {
            return None;
        }
        let id = open.id;
        let why = if has_room { "no answer in time" } else { "withdrawn: another game took the slot" };
        let open = self.close(ChallengeState::Ended(why.to_owned()), now, effects)?;
        match has_room {
            true => self.series_ended(&open, why),
            false => self.series_withdrawn(&open, now),
        }
        id
    }

    fn end_of(&self, open: &OpenChallenge) -> Instant {
        let life = self.config.cancel_after.min(FAR);
        open.since + if open.is_ordered { life.max(ORDERED_LIFE) } else { life }
    }

    fn may_challenge(&mut self, load: Load, now: Instant) -> bool {
        let is_waiting = self.open.is_some() || self.awaits_reply || self.series.is_some();
        let is_possible = self.is_automatic && !is_waiting && load.allows_challenges(&self.config);
        is_possible && now >= self.not_before && now >= self.next_allowed(now)
    }

    /// Returns when the number of challenges a day allows another.
    fn next_allowed(&mut self, now: Instant) -> Instant {
        let time = self.time(now);
        let allowed = self.history.next_allowed(self.config.max_challenges_per_day, time);
        now + allowed.saturating_sub(time)
    }

    /// Returns the time since 1970.
    fn time(&self, now: Instant) -> Duration {
        let (started, time) = self.clock;
        time + now.saturating_duration_since(started)
    }

    fn delay(&mut self, wait: Duration, now: Instant) {
        self.not_before = self.not_before.max(now + wait.min(FAR));
    }

    /// Sends no challenge for a while, as the server has told.
    pub(crate) fn pause(&mut self, wait: Duration, now: Instant) {
        let wait = wait.min(MAX_WAIT);
        self.delay(wait, now);
        self.limited_until = self.limited_until.max(now + wait);
    }

    pub(crate) fn saved(&mut self, result: io::Result<()>) {
        self.is_saving = false;
        if let Err(error) = result {
            warn!("cannot write the history of declined challenges: {error}");
        }
    }

    /// Writes what is not written yet, one write at a time.
    pub(crate) fn save(&mut self, effects: &mut Vec<Effect>) {
        if self.is_kept && !self.is_saving && mem::take(&mut self.is_unsaved) {
            self.is_saving = true;
            effects.push(Effect::Send(Request::Save(self.history.clone())));
        }
    }
}

#[cfg(test)]
mod tests;

//! Matchmaker: whom to challenge when nobody plays us. A state machine without I/O and without a clock.
//!
//! [`Matchmaker::step`] returns what to do now; the results are passed back. Times are counted from 1970, as some of
//! them are kept between runs.

use std::{mem, time::Duration};

use zeitnot_wire::lichess::{Challenge, ChallengeId, DeclineReason, User, UserId};

use super::{
    config::Config,
    decline_history::{DeclineHistory, GameType},
    not_now::{MAX_WAIT, NotNow},
    proposal::{Proposal, choose},
};
use crate::lichess::{BotLimit, HttpError, challenges::players::PlayerLists};

/// Minimum delay after a failed look at the opponents online.
const LOOKUP_DELAY: Duration = Duration::from_secs(5);
/// Life of a challenge of the owner, who may have chosen a person.
const ORDERED_LIFE: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Nothing before then, unless a game begins or ends.
    Wait { until: Duration },
    /// Get the list of bots online, and [choose](Matchmaker::choose).
    LookUp,
    /// Cancel the open challenge.
    Cancel(ChallengeId),
}

#[derive(Debug)]
pub(crate) struct Matchmaker {
    config: Config,
    /// See [`Config::variations`].
    variations: Vec<Config>,
    random: fastrand::Rng,
    history: DeclineHistory,
    is_dirty: bool,
    open: OpenChallenge,
    /// Whose idea the open challenge is.
    proposer: Proposer,
    /// Whether somebody is challenged without an order.
    is_automatic: bool,
    /// No challenge of ours before then.
    not_before: Duration,
    /// No challenge at all before then, as the server has told.
    limited_until: Duration,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Proposer {
    Matchmaker,
    /// The bot's owner.
    Owner,
}

/// Our challenge, one at a time.
#[derive(Clone, Debug)]
enum OpenChallenge {
    None,
    /// On its way to the server.
    Sent {
        opponent: UserId,
        since: Duration,
    },
    /// Waiting for an answer.
    Created {
        id: ChallengeId,
        opponent: UserId,
        since: Duration,
    },
}

impl Matchmaker {
    /// Creates a matchmaker that is idle from now on.
    pub(crate) fn new(config: Config, history: DeclineHistory, seed: u64, now: Duration) -> Matchmaker {
        Matchmaker {
            not_before: now + config.challenge_timeout,
            random: fastrand::Rng::with_seed(seed),
            is_dirty: false,
            open: OpenChallenge::None,
            proposer: Proposer::Matchmaker,
            is_automatic: true,
            limited_until: Duration::ZERO,
            variations: config.variations(),
            config,
            history,
        }
    }

    /// Challenges nobody without an order.
    pub(crate) fn by_order_only(self) -> Matchmaker {
        Matchmaker { is_automatic: false, ..self }
    }

    /// Goes on by another configuration; without one, only by order.
    pub(crate) fn reconfigure(&mut self, config: Option<Config>) {
        self.is_automatic = config.is_some();
        self.config = config.unwrap_or_default();
        self.variations = self.config.variations();
    }

    /// Returns whom we have challenged, as long as the challenge is open.
    pub(crate) fn challenged(&self) -> Option<&UserId> {
        match &self.open {
            OpenChallenge::None => None,
            OpenChallenge::Sent { opponent, .. } | OpenChallenge::Created { opponent, .. } => Some(opponent),
        }
    }

    /// Notes a challenge that the owner ordered. The caller sends it.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(crate) fn order(&mut self, opponent: &UserId, now: Duration) -> Result<(), NotNow> {
        if let Some(open) = self.challenged() {
            return Err(NotNow::Open(open.clone()));
        }
        if now < self.limited_until {
            return Err(NotNow::Limited(self.limited_until - now));
        }
        let max = self.config.max_challenges_per_day;
        let allowed = self.history.next_allowed(max, now);
        if now < allowed {
            return Err(NotNow::Daily { max, wait: allowed - now });
        }
        self.sent(opponent, Proposer::Owner, now);
        Ok(())
    }

    /// Ends the open challenge to a player. Returns it if the server knows it, to be cancelled.
    pub(crate) fn withdraw_from(&mut self, player: &UserId, now: Duration) -> Option<ChallengeId> {
        if self.challenged() != Some(player) {
            return None;
        }
        let id = match self.open {
            OpenChallenge::Created { id, .. } => Some(id),
            _ => None,
        };
        self.close(now);
        id
    }

    /// Returns what to do now, with so many games running and with or without a slot for another.
    pub(crate) fn step(&mut self, games: usize, has_room: bool, now: Duration) -> Step {
        let is_busy = games > 0 || !has_room;
        if is_busy {
            self.delay(self.config.challenge_timeout, now);
        }
        let life = match self.proposer {
            Proposer::Matchmaker => self.config.cancel_after,
            Proposer::Owner => self.config.cancel_after.max(ORDERED_LIFE),
        };
        match self.open {
            // If it were accepted now, that would be one game too many.
            OpenChallenge::Created { id, since, .. } if !has_room || now >= since + life => {
                self.close(now);
                Step::Cancel(id)
            }
            // The server has not answered.
            OpenChallenge::Sent { since, .. } if now >= since + life => {
                self.close(now);
                self.step(games, has_room, now)
            }
            OpenChallenge::Created { since, .. } | OpenChallenge::Sent { since, .. } => {
                Step::Wait { until: since + life }
            }
            OpenChallenge::None if !self.is_automatic => Step::Wait { until: Duration::MAX },
            OpenChallenge::None => {
                let limit = self.history.next_allowed(self.config.max_challenges_per_day, now);
                let due = self.not_before.max(limit);
                if is_busy || now < due { Step::Wait { until: due } } else { Step::LookUp }
            }
        }
    }

    /// Chooses an opponent and a game. The caller sends the challenge.
    pub(crate) fn choose(
        &mut self,
        me: &User,
        online: &[User],
        players: &PlayerLists,
        has_correspondence_room: bool,
        now: Duration,
    ) -> Option<Proposal> {
        let Matchmaker { config, variations, random, history, .. } = self;
        let may_play = |user: &User, game: &GameType| {
            let is_blocked = user.disabled || user.tos_violation || config.block_list.contains(&user.id);
            user.id != me.id && !is_blocked && players.allows(&user.id) && history.allows(&user.id, game, now)
        };
        let proposal = choose(variations, random, me, online, may_play, has_correspondence_room);
        let Some(proposal) = proposal else {
            self.delay(self.config.challenge_timeout, now);
            return None;
        };
        self.sent(&proposal.opponent, Proposer::Matchmaker, now);
        Some(proposal)
    }

    fn sent(&mut self, opponent: &UserId, proposer: Proposer, now: Duration) {
        self.history.sent(now);
        self.is_dirty = true;
        self.proposer = proposer;
        self.open = OpenChallenge::Sent { opponent: opponent.clone(), since: now };
    }

    /// The bots online could not be looked up.
    pub(crate) fn lookup_failed(&mut self, now: Duration) {
        self.delay(self.config.challenge_timeout.max(LOOKUP_DELAY), now);
    }

    pub(crate) fn pause(&mut self, wait: Duration, now: Duration) {
        let wait = wait.min(MAX_WAIT);
        self.delay(wait, now);
        self.limited_until = self.limited_until.max(now + wait);
    }

    pub(crate) fn created(&mut self, id: ChallengeId, now: Duration) {
        if let OpenChallenge::Sent { opponent, .. } = &self.open {
            self.open = OpenChallenge::Created { id, opponent: opponent.clone(), since: now };
        }
    }

    /// The server has not taken our challenge.
    pub(crate) fn refused(&mut self, error: &HttpError, now: Duration) {
        let OpenChallenge::Sent { opponent, .. } = self.open.clone() else { return };
        self.close(now);
        match (error.bot_limit(), error) {
            (Some(BotLimit::Theirs(wait)), _) => {
                // The opponent was not unwilling, so the next one may be asked soon.
                self.history.unavailable(&opponent, now + wait.min(MAX_WAIT), now);
                self.is_dirty = true;
            }
            (_, HttpError::Limited { wait, .. }) => self.pause(*wait, now),
            _ => {}
        }
    }

    /// A challenge of ours, perhaps of an earlier run, was declined.
    pub(crate) fn declined(&mut self, challenge: &Challenge, now: Duration) {
        self.gone(challenge.id, now);
        let Some(opponent) = &challenge.dest_user else { return };
        let game = GameType {
            speed: challenge.time_control.speed(),
            variant: challenge.variant.key.clone(),
            mode: challenge.rated.into(),
        };
        let reason = challenge.decline_reason_key.as_ref().unwrap_or(&DeclineReason::Generic);
        self.history.declined(&opponent.id, reason, &game, self.config.delay_after_decline, now);
        self.is_dirty = true;
    }

    pub(crate) fn accepted(&mut self, id: ChallengeId, now: Duration) {
        if let OpenChallenge::Created { id: open, opponent, .. } = &self.open
            && *open == id
        {
            self.history.accepted(opponent);
            self.is_dirty = true;
        }
        self.gone(id, now);
    }

    /// Returns whether this is the game of a challenge of the matchmaker, which are all to bots. It may begin before
    /// the challenge's id is known.
    pub(crate) fn has_proposed(&self, id: ChallengeId, opponent: Option<&UserId>) -> bool {
        match &self.open {
            _ if self.proposer == Proposer::Owner => false,
            OpenChallenge::None => false,
            OpenChallenge::Sent { opponent: asked, .. } => opponent == Some(asked),
            OpenChallenge::Created { id: open, .. } => *open == id,
        }
    }

    /// Returns whether this challenge of ours waits for an answer.
    pub(crate) fn is_open(&self, id: ChallengeId) -> bool {
        matches!(self.open, OpenChallenge::Created { id: open, .. } if open == id)
    }

    /// A challenge of ours does not exist any more.
    pub(crate) fn gone(&mut self, id: ChallengeId, now: Duration) {
        if self.is_open(id) {
            self.close(now);
        }
    }

    /// Returns the history if it has changed since the last call.
    pub(crate) fn take_unsaved(&mut self) -> Option<DeclineHistory> {
        mem::take(&mut self.is_dirty).then(|| self.history.clone())
    }

    fn close(&mut self, now: Duration) {
        self.open = OpenChallenge::None;
        self.delay(self.config.challenge_timeout, now);
    }

    fn delay(&mut self, wait: Duration, now: Duration) {
        self.not_before = self.not_before.max(now + wait);
    }
}

#[cfg(test)]
mod tests;

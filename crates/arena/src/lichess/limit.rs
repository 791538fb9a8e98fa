//! Rate limits per account, over sliding windows.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;
use zeitnot_wire::lichess::UserId;

use super::{answer::Refusal, config::Limits};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limited {
    EventStream,
    Account,
    Challenge,
    DailyChallenge,
    Move,
    BotGame,
}

/// The times of the requests in each window. Exact, and with a look ahead that takes nothing: the daily limit of bot
/// games tells the seconds until a game is possible, and is checked for both players before either is charged.
#[derive(Debug)]
pub(super) struct RateLimits {
    limits: Limits,
    used: BTreeMap<(UserId, Limited), VecDeque<Instant>>,
}

impl RateLimits {
    pub(super) fn new(limits: Limits) -> RateLimits {
        RateLimits { limits, used: BTreeMap::new() }
    }

    fn rule(&self, limited: Limited) -> (usize, Duration) {
        let limits = &self.limits;
        let (most, window) = match limited {
            Limited::EventStream => (limits.event_streams, 10 * MINUTE),
            Limited::Account => (limits.accounts, 5 * MINUTE),
            Limited::Challenge => (limits.challenges, MINUTE),
            Limited::DailyChallenge => (limits.challenges_a_day, DAY),
            Limited::Move => (limits.moves, MINUTE),
            Limited::BotGame => (limits.bot_games_a_day, DAY),
        };
        (most as usize, window)
    }

    /// Time until the next such request is allowed; `None` if it is allowed now.
    pub(super) fn wait(&mut self, who: &UserId, limited: Limited, now: Instant) -> Option<Duration> {
        let (most, window) = self.rule(limited);
        let used = self.used.entry((who.clone(), limited)).or_default();
        while used.front().is_some_and(|at| now.saturating_duration_since(*at) >= window) {
            used.pop_front();
        }
        let oldest = used.len().checked_sub(most)?;
        let since = used.get(oldest).copied().unwrap_or(now);
        Some((since + window).saturating_duration_since(now))
    }

    /// Charges `cost` requests, if one is allowed now.
    pub(super) fn take(
        &mut self,
        who: &UserId,
        limited: Limited,
        cost: usize,
        now: Instant,
    ) -> Result<(), Refusal> {
        if self.wait(who, limited, now).is_some() {
            return Err(Refusal::rate_limited());
        }
        let used = self.used.entry((who.clone(), limited)).or_default();
        used.extend(std::iter::repeat_n(now, cost));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_slides() {
        let mut limits = RateLimits::new(Limits { challenges: 2, ..Limits::default() });
        let (who, now): (UserId, _) = ("bot".parse().unwrap(), Instant::now());
        let mut take = |at| {
            let wait = limits.wait(&who, Limited::Challenge, at);
            assert_eq!(limits.take(&who, Limited::Challenge, 1, at).is_ok(), wait.is_none());
            wait
        };
        assert_eq!(take(now), None);
        assert_eq!(take(now + MINUTE / 2), None);
        assert_eq!(take(now + MINUTE / 2), Some(MINUTE / 2));
        assert_eq!(take(now + MINUTE), None);
        assert_eq!(take(now + MINUTE), Some(MINUTE / 2));
    }
}

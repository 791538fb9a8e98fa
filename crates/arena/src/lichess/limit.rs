//! Who asks for how much of what: rationed over windows of time that move along.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use zeitnot_wire::lichess::UserId;

use super::config::Limits;

const MINUTE: Duration = Duration::from_secs(60);
/// Tournaments that are joined in ten minutes.
const JOINS: u32 = 30;
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is rationed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ration {
    EventStream,
    Account,
    Challenge,
    ChallengeOfDay,
    Move,
    BotGame,
    Join,
    ComputerGame,
}

/// Remembers when who had what.
#[derive(Debug)]
pub(super) struct Rations {
    limits: Limits,
    had: BTreeMap<(UserId, Ration), VecDeque<Instant>>,
}

impl Rations {
    pub(super) fn new(limits: Limits) -> Rations {
        Rations { limits, had: BTreeMap::new() }
    }

    fn rule(&self, ration: Ration) -> (usize, Duration) {
        let Limits {
            event_streams,
            accounts,
            challenges,
            challenges_a_day,
            moves,
            bot_games_a_day,
            computer_games_a_day,
        } = self.limits;
        let (most, window) = match ration {
            Ration::EventStream => (event_streams, 10 * MINUTE),
            Ration::Account => (accounts, 5 * MINUTE),
            Ration::Challenge => (challenges, MINUTE),
            Ration::ChallengeOfDay => (challenges_a_day, DAY),
            Ration::Move => (moves, MINUTE),
            Ration::BotGame => (bot_games_a_day, DAY),
            Ration::Join => (JOINS, 10 * MINUTE),
            Ration::ComputerGame => (computer_games_a_day, DAY),
        };
        (most as usize, window)
    }

    /// How long until there is more of it; `None`: there is some left.
    pub(super) fn wait(&mut self, who: &UserId, ration: Ration, now: Instant) -> Option<Duration> {
        let (most, window) = self.rule(ration);
        let had = self.had.entry((who.clone(), ration)).or_default();
        while had.front().is_some_and(|at| now.saturating_duration_since(*at) >= window) {
            had.pop_front();
        }
        let oldest = had.len().checked_sub(most)?;
        let since = had.get(oldest).copied().unwrap_or(now);
        Some((since + window).saturating_duration_since(now))
    }

    /// Takes so much; `Err` says how long until there is any.
    pub(super) fn take(
        &mut self,
        who: &UserId,
        ration: Ration,
        cost: usize,
        now: Instant,
    ) -> Result<(), Duration> {
        match self.wait(who, ration, now) {
            Some(wait) => Err(wait),
            None => {
                let had = self.had.entry((who.clone(), ration)).or_default();
                had.extend(std::iter::repeat_n(now, cost));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_moves_along() {
        let mut rations = Rations::new(Limits { challenges: 2, ..Limits::default() });
        let (who, now): (UserId, _) = ("bot".parse().unwrap(), Instant::now());
        let mut take = |at| rations.take(&who, Ration::Challenge, 1, at);
        assert_eq!(take(now), Ok(()));
        assert_eq!(take(now + MINUTE / 2), Ok(()));
        assert_eq!(take(now + MINUTE / 2), Err(MINUTE / 2));
        assert_eq!(take(now + MINUTE), Ok(()));
        assert_eq!(take(now + MINUTE), Err(MINUTE / 2));
    }
}

//! Games that begin: those that were accepted are expected, and looked up if their start is not told. Their number is
//! limited: what exceeds it is found later in the list of running games. No I/O and no clock.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use zeitnot_wire::lichess::GameId;

use crate::lichess::recent::RecentTimes;

/// Games at once, whatever their slots; tournaments and other clients may begin games that we did not accept.
const MAX_GAMES: usize = 256;
/// Games that may begin …
const MAX_STARTS: usize = 512;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(60);
/// Delay before running games are looked up, where some were not begun.
const LOOKUP_DELAY: Duration = Duration::from_secs(10);

/// Delay before a game is looked up whose challenge was accepted; the event of its start usually comes at once.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(3);

/// The games that have begun lately, and those that are about to.
#[derive(Debug, Default)]
pub(crate) struct GameStarts {
    recent: RecentTimes,
    lookup_at: Option<Instant>,
    /// Games that are about to begin, and when to look them up.
    expected: BTreeMap<GameId, Instant>,
}

impl GameStarts {
    /// Counts a game that begins beside so many others. Returns whether it may.
    pub(crate) fn admit(&mut self, running: usize, now: Instant) -> bool {
        let is_admitted = running < MAX_GAMES && self.recent.count(WINDOW, now) < MAX_STARTS;
        if is_admitted {
            self.recent.push(now);
        } else {
            self.postpone(now);
        }
        is_admitted
    }

    /// Notes a game that has to be looked up later.
    pub(crate) fn postpone(&mut self, now: Instant) {
        self.lookup_at.get_or_insert(now + LOOKUP_DELAY);
    }

    /// Notes a challenge that was accepted, and becomes a game of the same id.
    pub(crate) fn expect(&mut self, id: GameId, now: Instant) {
        if self.expected.len() < MAX_GAMES {
            self.expected.insert(id, now + START_TIMEOUT);
        }
    }

    /// Notes that the start of a game was told.
    pub(crate) fn told(&mut self, id: GameId) {
        self.expected.remove(&id);
    }

    /// Returns when to look up the running games, as some were not begun.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.expected.values().copied().chain(self.lookup_at).min()
    }

    /// Returns whether that is now. The look-up then counts as made.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        let expected = self.expected.len();
        self.expected.retain(|_, due| *due > now);
        self.lookup_at.take_if(|due| *due <= now).is_some() || self.expected.len() < expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accepted_game_is_looked_up_once_unless_its_start_is_told() {
        let mut starts = GameStarts::default();
        let now = Instant::now();
        let lost = "abcdefgh".parse().unwrap();
        let told = "ABCDEFGH".parse().unwrap();
        starts.expect(told, now);
        starts.told(told);
        assert_eq!(starts.due(), None);
        starts.expect(lost, now);
        assert_eq!(starts.due(), Some(now + START_TIMEOUT));
        assert!(!starts.take_due(now) && starts.take_due(now + START_TIMEOUT) && starts.due().is_none());
    }

    #[test]
    fn a_flood_of_games_is_cut_off_and_looked_up_later() {
        let mut starts = GameStarts::default();
        let now = Instant::now();
        let admitted = |starts: &mut GameStarts, now| (0..28_200).filter(|_| starts.admit(0, now)).count();
        assert_eq!(admitted(&mut starts, now), MAX_STARTS);
        assert_eq!(starts.due(), Some(now + LOOKUP_DELAY));
        assert!(!starts.take_due(now) && starts.take_due(now + LOOKUP_DELAY) && starts.due().is_none());
        assert_eq!(admitted(&mut starts, now + WINDOW), MAX_STARTS);
        assert!(!starts.admit(MAX_GAMES, now + 2 * WINDOW) && starts.admit(0, now + 2 * WINDOW));
    }
}

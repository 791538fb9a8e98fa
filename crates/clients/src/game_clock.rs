//! Clocks of a game that may go on without our connection: they bound the delays until we are back.

use std::time::{Duration, Instant};

use zeitnot_rules::{ByColor, Color};

/// Clocks of one game, seen from our side.
#[derive(Copy, Clone, Debug)]
pub(crate) struct GameClock {
    ours: Duration,
    theirs: Duration,
    is_our_turn: bool,
    /// Time since which one of them runs.
    since: Instant,
}

impl GameClock {
    pub(crate) fn new(
        left: &ByColor<Duration>,
        color: Color,
        is_our_turn: bool,
        since: Instant,
    ) -> GameClock {
        GameClock { ours: left[color], theirs: left[!color], is_our_turn, since }
    }

    /// Notes that we have moved.
    pub(crate) fn answered(&mut self, now: Instant) {
        let ours = self.ours.saturating_sub(now.saturating_duration_since(self.since));
        *self = GameClock { ours, is_our_turn: false, since: now, ..*self };
    }

    /// Returns when the game is over without us; `None` if that is beyond any time.
    pub(crate) fn ends_at(&self) -> Option<Instant> {
        let theirs = if self.is_our_turn { Duration::ZERO } else { self.theirs };
        self.since.checked_add(self.ours.saturating_add(theirs))
    }

    /// Returns our time left. `None`: without us the game is over, as the opponent has moved once at most, and then
    /// our clock has run out.
    pub(crate) fn time_left(&self, now: Instant) -> Option<Duration> {
        let spent = now.saturating_duration_since(self.since);
        if self.is_our_turn {
            self.ours.checked_sub(spent).filter(|left| !left.is_zero())
        } else {
            (spent < self.ours.saturating_add(self.theirs)).then_some(self.ours)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_game_ends_when_the_clocks_have_run_out() {
        let now = Instant::now();
        let left = ByColor([10 * SECOND, 20 * SECOND]);
        let mut clock = GameClock::new(&left, Color::White, true, now);
        assert_eq!(clock.time_left(now + 4 * SECOND), Some(6 * SECOND));
        assert_eq!(clock.time_left(now + 10 * SECOND), None);
        assert_eq!(clock.ends_at(), Some(now + 10 * SECOND));
        clock.answered(now + 4 * SECOND);
        assert_eq!(clock.time_left(now + 29 * SECOND), Some(6 * SECOND));
        assert_eq!(clock.time_left(now + 30 * SECOND), None);
        assert_eq!(clock.ends_at(), Some(now + 30 * SECOND));
        let endless = GameClock::new(&ByColor::both(Duration::MAX), Color::Black, false, now);
        assert_eq!(endless.ends_at(), None);
        assert_eq!(endless.time_left(now + 30 * SECOND), Some(Duration::MAX));
    }
}

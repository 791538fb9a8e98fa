//! The authoritative clocks of one game: plain arithmetic, every instant is passed in.

use std::time::Duration;

use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, TimeControl};

/// What a side has to think with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// A clock for the whole game.
    Game(TimeControl),
    /// So long for each move, whatever the last one took.
    Move(Duration),
}

/// Two clocks of which at most one runs.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    left: ByColor<Duration>,
    increments: ByColor<Duration>,
    /// With each move it shows this again.
    refills: ByColor<Option<Duration>>,
    /// So late a move still counts.
    margin: Duration,
    running: Option<(Color, Instant)>,
}

impl Clock {
    /// Both clocks full, none running.
    pub fn new(time_control: TimeControl) -> Self {
        Clock::fair(ByColor::both(Allowance::Game(time_control)), Duration::ZERO)
    }

    /// To each side its own, none running; a move that is late by the margin still counts.
    pub fn fair(allowances: ByColor<Allowance>, margin: Duration) -> Self {
        let part = |allowance| match allowance {
            Allowance::Game(TimeControl { initial, increment }) => (initial, increment, None),
            Allowance::Move(time) => (time, Duration::ZERO, Some(time)),
        };
        let [white, black] = allowances.0.map(part);
        Clock {
            left: ByColor([white.0, black.0]),
            increments: ByColor([white.1, black.1]),
            refills: ByColor([white.2, black.2]),
            margin,
            running: None,
        }
    }

    /// Half of a side's time goes, and all of its increment.
    pub fn halve(&mut self, side: Color) {
        self.left[side] /= 2;
        self.increments[side] = Duration::ZERO;
    }

    /// What a side gets for a move.
    pub fn increment(&self, side: Color) -> Duration {
        self.increments[side]
    }

    /// Both clocks show this, none running.
    pub fn set(&mut self, left: ByColor<Duration>) {
        (self.left, self.running) = (left, None);
    }

    /// Does anybody's time pass?
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// From now on this side's time passes.
    pub fn start(&mut self, side: Color, now: Instant) {
        self.running = Some((side, now));
    }

    /// What the clock of a side shows; never below zero.
    pub fn left(&self, side: Color, now: Instant) -> Duration {
        let used = match self.running {
            Some((running, since)) if running == side => now.saturating_duration_since(since),
            _ => Duration::ZERO,
        };
        self.left[side].saturating_sub(used)
    }

    /// When the running clock has used up its last moment, and the margin.
    pub fn flag(&self) -> Option<Instant> {
        self.running.map(|(side, since)| since + self.left[side] + self.margin)
    }

    /// Would a move that arrived then be too late?
    pub fn is_late(&self, at: Instant) -> bool {
        self.flag().is_some_and(|flag| at > flag)
    }

    /// A legal move arrived: the running clock stops and gets its increment.
    pub fn press(&mut self, at: Instant) {
        if let Some((side, _)) = self.running {
            self.left[side] = self.refills[side].unwrap_or(self.left(side, at) + self.increments[side]);
            self.running = None;
        }
    }

    /// Both clocks stop where they are.
    pub fn stop(&mut self, at: Instant) {
        if let Some((side, _)) = self.running {
            self.left[side] = self.left(side, at);
            self.running = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn time_runs_for_the_mover_and_the_increment_comes_with_the_move() {
        let t0 = Instant::now();
        let mut clock = Clock::new("1+0.1".parse().unwrap());
        assert_eq!(clock.flag(), None);
        clock.start(Color::White, t0);
        assert_eq!(clock.left(Color::White, t0 + 300 * MS), 700 * MS);
        assert_eq!(clock.left(Color::Black, t0 + 300 * MS), 1000 * MS);
        clock.press(t0 + 300 * MS);
        assert_eq!(clock.left(Color::White, t0 + 900 * MS), 800 * MS);
        clock.start(Color::Black, t0 + 400 * MS);
        clock.stop(t0 + 500 * MS);
        assert_eq!(clock.left(Color::Black, t0 + 900 * MS), 900 * MS);
    }

    #[test]
    fn the_last_moment_counts_and_the_one_after_it_does_not() {
        let t0 = Instant::now();
        let mut clock = Clock::new("1+0.1".parse().unwrap());
        clock.start(Color::Black, t0);
        assert_eq!(clock.flag(), Some(t0 + 1000 * MS));
        assert!(!clock.is_late(t0 + 1000 * MS));
        assert!(clock.is_late(t0 + 1001 * MS));
        assert_eq!(clock.left(Color::Black, t0 + 2000 * MS), Duration::ZERO);
    }

    #[test]
    fn a_move_that_was_read_before_its_request_costs_no_time() {
        let t0 = Instant::now();
        let mut clock = Clock::new("1+0".parse().unwrap());
        clock.start(Color::White, t0 + 5 * MS);
        clock.press(t0);
        assert_eq!(clock.left(Color::White, t0), 1000 * MS);
    }

    #[test]
    fn each_side_has_its_own_and_the_margin_is_given_only_once() {
        let t0 = Instant::now();
        let allowances = ByColor([Allowance::Move(100 * MS), Allowance::Game("1+0.1".parse().unwrap())]);
        let mut clock = Clock::fair(allowances, 20 * MS);
        clock.start(Color::White, t0);
        assert!(!clock.is_late(t0 + 120 * MS) && clock.is_late(t0 + 121 * MS));
        clock.press(t0 + 115 * MS);
        assert_eq!(clock.left(Color::White, t0), 100 * MS);
        clock.start(Color::Black, t0);
        clock.press(t0 + 1010 * MS);
        assert_eq!(clock.left(Color::Black, t0), 100 * MS, "what was beyond the flag is not owed");
    }
}

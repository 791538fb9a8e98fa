//! Clocks of one game: plain arithmetic on instants that are passed in. It saturates.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, TimeControl};

/// Time that a player has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// For the whole game.
    Game(TimeControl),
    /// This much for each move, whatever the last one took.
    Move(Duration),
    /// Without a clock.
    Unlimited,
}

/// Two clocks of which at most one runs.
#[derive(Clone, Debug)]
pub struct Clock {
    allowances: ByColor<Allowance>,
    left: ByColor<Duration>,
    /// Lateness at which a move still counts.
    margin: Duration,
    running: Option<(Color, Instant)>,
}

impl Clock {
    /// Creates clocks that stand; a move that is late by the margin still counts.
    pub fn new(allowances: ByColor<Allowance>, margin: Duration) -> Self {
        let left = allowances.0.map(|allowance| match allowance {
            Allowance::Game(time_control) => time_control.initial,
            Allowance::Move(time) => time,
            Allowance::Unlimited => Duration::MAX,
        });
        Clock { allowances, left: ByColor(left), margin, running: None }
    }

    /// Returns the time that a side has left; `None` without a clock.
    pub fn left(&self, color: Color, now: Instant) -> Option<Duration> {
        let used = match self.running {
            Some((running, since)) if running == color => now.saturating_duration_since(since),
            _ => Duration::ZERO,
        };
        (self.allowances[color] != Allowance::Unlimited).then(|| self.left[color].saturating_sub(used))
    }

    /// Returns what a side gains by a move.
    pub fn increment(&self, color: Color) -> Duration {
        match self.allowances[color] {
            Allowance::Game(time_control) => time_control.increment,
            Allowance::Move(_) | Allowance::Unlimited => Duration::ZERO,
        }
    }

    /// Returns the side whose clock runs.
    pub fn running(&self) -> Option<Color> {
        self.running.map(|(color, _)| color)
    }

    /// Returns whether one of the clocks runs.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts the clock of a side, and stops the other.
    pub fn start(&mut self, color: Color, now: Instant) {
        self.stop(now);
        self.running = Some((color, now));
    }

    /// Returns when the running clock has used up its time and the margin; `None` if that never happens.
    pub(crate) fn flag(&self) -> Option<Instant> {
        let (color, since) = self.running?;
        since.checked_add(self.left[color].saturating_add(self.margin))
    }

    /// Stops the running clock and adds its increment: a legal move has arrived.
    pub(crate) fn press(&mut self, at: Instant) {
        let Some((color, _)) = self.running else { return };
        self.stop(at);
        self.left[color] = match self.allowances[color] {
            Allowance::Game(time_control) => self.left[color].saturating_add(time_control.increment),
            Allowance::Move(time) => time,
            Allowance::Unlimited => Duration::MAX,
        };
    }

    /// Stops the running clock.
    pub fn stop(&mut self, at: Instant) {
        if let Some((color, _)) = self.running {
            self.left[color] = self.left(color, at).unwrap_or(Duration::MAX);
            self.running = None;
        }
    }

    /// Sets and stops both clocks.
    pub fn set(&mut self, left: ByColor<Duration>) {
        (self.left, self.running) = (left, None);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn clock(time_control: &str) -> Clock {
        Clock::new(ByColor::both(Allowance::Game(time_control.parse().unwrap())), Duration::ZERO)
    }

    #[test]
    fn time_runs_for_the_mover_and_the_increment_comes_with_the_move() {
        let t0 = Instant::now();
        let mut clock = clock("1+0.1");
        assert_eq!(clock.flag(), None);
        clock.start(Color::White, t0);
        assert_eq!(clock.left(Color::White, t0 + 300 * MS), Some(700 * MS));
        assert_eq!(clock.left(Color::Black, t0 + 300 * MS), Some(1000 * MS));
        clock.press(t0 + 300 * MS);
        assert_eq!(clock.left(Color::White, t0 + 900 * MS), Some(800 * MS));
        clock.start(Color::Black, t0 + 400 * MS);
        clock.stop(t0 + 500 * MS);
        assert_eq!(clock.left(Color::Black, t0 + 900 * MS), Some(900 * MS));
    }

    #[test]
    fn the_flag_falls_when_the_last_moment_is_over() {
        let t0 = Instant::now();
        let mut clock = clock("1+0.1");
        clock.start(Color::Black, t0);
        assert_eq!(clock.flag(), Some(t0 + 1000 * MS));
        assert_eq!(clock.left(Color::Black, t0 + 2000 * MS), Some(Duration::ZERO));
    }

    #[test]
    fn a_move_that_was_read_before_its_request_costs_no_time() {
        let t0 = Instant::now();
        let mut clock = clock("1+0");
        clock.start(Color::White, t0 + 5 * MS);
        clock.press(t0);
        assert_eq!(clock.left(Color::White, t0), Some(1000 * MS));
    }

    #[test]
    fn each_side_has_its_own_and_the_margin_is_given_only_once() {
        let t0 = Instant::now();
        let allowances = ByColor([Allowance::Move(100 * MS), Allowance::Game("1+0.1".parse().unwrap())]);
        let mut clock = Clock::new(allowances, 20 * MS);
        clock.start(Color::White, t0);
        assert_eq!(clock.flag(), Some(t0 + 120 * MS));
        clock.press(t0 + 115 * MS);
        assert_eq!(clock.left(Color::White, t0), Some(100 * MS));
        clock.start(Color::Black, t0);
        clock.press(t0 + 1010 * MS);
        assert_eq!(clock.left(Color::Black, t0), Some(100 * MS), "time beyond the flag is not owed");
    }

    #[test]
    fn without_a_clock_there_is_no_flag() {
        let mut clock = Clock::new(ByColor::both(Allowance::Unlimited), MS);
        clock.start(Color::White, Instant::now());
        assert_eq!((clock.flag(), clock.left(Color::White, Instant::now())), (None, None));
    }

    #[test]
    fn clocks_that_are_set_stand() {
        let t0 = Instant::now();
        let mut clock = clock("1+0.1");
        assert_eq!((clock.running(), clock.is_running()), (None, false));
        clock.start(Color::White, t0);
        assert_eq!((clock.running(), clock.is_running()), (Some(Color::White), true));
        clock.set(ByColor([300 * MS, 400 * MS]));
        assert_eq!((clock.running(), clock.is_running()), (None, false));
        let later = t0 + 900 * MS;
        assert_eq!(Color::BOTH.map(|color| clock.left(color, later)), [Some(300 * MS), Some(400 * MS)]);
    }

    #[test]
    fn only_the_clock_of_a_game_has_an_increment() {
        for (allowance, increment) in [
            (Allowance::Game("60+0.1".parse().unwrap()), 100 * MS),
            (Allowance::Move(100 * MS), Duration::ZERO),
            (Allowance::Unlimited, Duration::ZERO),
        ] {
            let clock = Clock::new(ByColor::both(allowance), MS);
            assert_eq!(clock.increment(Color::Black), increment, "{allowance:?}");
        }
    }

    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            Just(Duration::MAX),
            Just(Duration::ZERO),
            any::<u64>().prop_map(Duration::from_nanos),
            any::<u64>().prop_map(Duration::from_secs),
        ]
    }

    fn allowance() -> impl Strategy<Value = Allowance> {
        prop_oneof![
            (duration(), duration())
                .prop_map(|(initial, increment)| Allowance::Game(TimeControl { initial, increment })),
            duration().prop_map(Allowance::Move),
            Just(Allowance::Unlimited),
        ]
    }

    proptest! {
        #[test]
        fn arithmetic_saturates_and_only_the_running_clock_falls(
            allowances in [allowance(), allowance()], margin in duration(), given in duration(),
            steps in prop::collection::vec((0..4u8, any::<bool>(), 0..1u64 << 40), 0..40),
        ) {
            let mut clock = Clock::new(ByColor(allowances), margin);
            let mut now = Instant::now();
            for (step, is_white, millis) in steps {
                let color = if is_white { Color::White } else { Color::Black };
                let (before, was_running) = (clock.clone(), clock.running);
                now += Duration::from_millis(millis);
                for side in Color::BOTH {
                    let passes = was_running.is_some_and(|(running, _)| running == side);
                    let earlier = was_running.map_or(now, |(_, since)| since);
                    let (then, later) = (before.left(side, earlier), clock.left(side, now));
                    prop_assert!(later <= then && (passes || later == then));
                }
                match step {
                    0 => clock.start(color, now),
                    1 => clock.press(now),
                    2 => clock.stop(now),
                    _ => clock.set(ByColor([given, margin])),
                }
                let _ = clock.flag();
            }
        }
    }
}

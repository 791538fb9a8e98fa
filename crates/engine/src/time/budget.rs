//! Time budget of one move: a soft limit, after which no new iteration starts, and a hard limit, at which the
//! answer leaves whatever the search does.

use std::time::Duration;

/// Our clock when a move is requested.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub left: Duration,
    /// Added after the move.
    pub increment: Duration,
    /// Moves until the next time control; `None` if the rest of the game must be played in this time.
    pub moves_to_go: Option<u32>,
}

/// Soft and hard limit, counted from the request for the move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// When to stop deepening if the search is neither more nor less certain than usual.
    pub soft: Duration,
    /// When the answer is sent.
    pub hard: Duration,
}

/// Time on our clock that must not be used for thinking.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Network lag and our own lateness.
    pub lag: Duration,
    /// Whether the lag is measured, or only configured.
    pub measured: bool,
}

/// Moves that the remaining time is planned for, at most.
const MAX_MOVES_TO_GO: u32 = 22;
/// Part of the increment that a move may use.
const INCREMENT_FACTOR: f64 = 0.85;
/// Hard limit as a multiple of the fair share …
const HARD_FACTOR: u32 = 4;
/// … but never more than this part of the time left.
const MAX_FRACTION: f64 = 0.5;
/// Soft limit as a part of the fair share: an iteration that starts later seldom finishes.
const SOFT_FACTOR: f64 = 0.7;
/// Least part of the clock to use, as a divisor, even where the reserve exceeds the clock: a move is owed. Also
/// the most that is used while the lag is not measured, so that a wrong setting loses no game.
const MIN_DIVISOR: u32 = 8;

impl Clock {
    /// Returns the limits for one move.
    ///
    /// ```
    /// use std::time::Duration;
    /// use zeitnot_engine::time::{Clock, Reserve};
    ///
    /// let clock = Clock { left: Duration::from_secs(60), increment: Duration::ZERO, moves_to_go: None };
    /// let budget = clock.budget(Reserve { lag: Duration::from_millis(50), measured: true });
    /// assert!(budget.soft < budget.hard && budget.hard < Duration::from_secs(30));
    /// ```
    pub fn budget(&self, reserve: Reserve) -> Budget {
        let moves = self.moves_to_go.unwrap_or(MAX_MOVES_TO_GO).clamp(1, MAX_MOVES_TO_GO);
        // Lag that the increment does not pay for is lost on each later move as well.
        let later_lag = reserve.lag.saturating_sub(self.increment).saturating_mul(moves - 1);
        let min = self.left / MIN_DIVISOR;
        let usable = self.left.saturating_sub(reserve.lag.saturating_add(later_lag)).max(min);
        let share = usable / moves + self.increment.mul_f64(INCREMENT_FACTOR);
        let max = match moves {
            // With a fixed time for each move the lag cannot be measured, so the guess would limit every move.
            1 => usable,
            _ if !reserve.measured => min,
            _ => usable.mul_f64(MAX_FRACTION),
        };
        let hard = share.saturating_mul(HARD_FACTOR).min(max);
        Budget { soft: share.mul_f64(SOFT_FACTOR).min(hard), hard }
    }
}

/// Resolution of timers: shorter searches are not started.
const MIN_SEARCH: Duration = Duration::from_millis(1);

impl Budget {
    /// Returns whether there is no time to search at all, as near the end of a clock without increment.
    pub fn is_instant(self) -> bool {
        self.hard < MIN_SEARCH
    }

    /// Fixed time for the move.
    pub fn exactly(time: Duration) -> Budget {
        Budget { soft: time, hard: time }
    }

    /// Multiplies the soft limit, up to the hard one.
    pub fn extended(self, factor: f64) -> Budget {
        Budget { soft: self.soft.mul_f64(factor).min(self.hard), ..self }
    }

    /// Limits the time to `max`.
    pub fn capped(self, max: Duration) -> Budget {
        Budget { soft: self.soft.min(max), hard: self.hard.min(max) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn measured(millis: u64) -> Reserve {
        Reserve { lag: Duration::from_millis(millis), measured: true }
    }

    fn clocks() -> impl Strategy<Value = Clock> {
        // From nothing to five days, as dense near zero as far from it.
        let millis = |bits: u32| (0..=bits, any::<u64>()).prop_map(|(bits, n)| n & ((1 << bits) - 1));
        (millis(29), millis(18), prop::option::of(0u32..100)).prop_map(|(left, increment, moves_to_go)| {
            Clock {
                left: Duration::from_millis(left),
                increment: Duration::from_millis(increment),
                moves_to_go,
            }
        })
    }

    fn reserves() -> impl Strategy<Value = Reserve> {
        (0u64..2_000, any::<bool>())
            .prop_map(|(lag, measured)| Reserve { lag: Duration::from_millis(lag), measured })
    }

    proptest! {
        #[test]
        fn soft_before_hard_before_the_flag(clock in clocks(), reserve in reserves()) {
            let budget = clock.budget(reserve);
            prop_assert!(budget.soft <= budget.hard);
            prop_assert!(budget.hard <= clock.left);
            if clock.left > 2 * reserve.lag {
                prop_assert!(budget.hard + reserve.lag <= clock.left);
            }
        }

        #[test]
        fn more_time_is_never_less(clock in clocks(), reserve in reserves(), more in 0u64..1_000_000) {
            let richer = Clock { left: clock.left + Duration::from_millis(more), ..clock };
            prop_assert!(richer.budget(reserve).soft >= clock.budget(reserve).soft);
            prop_assert!(richer.budget(reserve).hard >= clock.budget(reserve).hard);
        }

        #[test]
        fn more_lag_is_never_more_time(clock in clocks(), reserve in reserves(), more in 0u64..10_000) {
            let later = Reserve { lag: reserve.lag + Duration::from_millis(more), ..reserve };
            prop_assert!(clock.budget(later).hard <= clock.budget(reserve).hard);
        }

        /// A whole game in which each move takes its hard limit plus the whole lag.
        #[test]
        fn no_flag_falls_however_long_the_game(clock in clocks(), lag in 0u64..100, plies in 1u32..300) {
            let clock = Clock { moves_to_go: None, ..clock };
            let lag = Duration::from_millis(lag);
            prop_assume!(clock.left > 2 * lag && clock.increment > 2 * lag);
            let mut left = clock.left;
            for _ in 0..plies {
                let used = Clock { left, ..clock }.budget(Reserve { lag, measured: true }).hard + lag;
                prop_assert!(used <= left, "{used:?} of {left:?}");
                left = left - used + clock.increment;
            }
        }
    }

    #[test]
    fn the_last_move_before_the_time_control_may_use_it_all() {
        let clock = Clock { left: Duration::from_secs(10), increment: Duration::ZERO, moves_to_go: Some(1) };
        assert_eq!(clock.budget(measured(1_000)).hard, Duration::from_secs(9));
    }

    #[test]
    fn without_an_increment_the_lag_of_the_moves_to_come_is_kept_too() {
        let poor = Clock { left: Duration::from_millis(40), increment: Duration::ZERO, moves_to_go: None };
        assert!(poor.budget(measured(1)).hard < Duration::from_millis(4));
        assert!(Clock { left: Duration::from_millis(12), ..poor }.budget(measured(1)).is_instant());
        let paid = Clock { increment: Duration::from_millis(10), ..poor };
        assert!(paid.budget(measured(1)).hard > Duration::from_millis(15));
    }

    #[test]
    fn an_unknown_server_gets_little_of_the_clock() {
        let clock = Clock {
            left: Duration::from_millis(100),
            increment: Duration::from_millis(100),
            moves_to_go: None,
        };
        let guess = Reserve { measured: false, ..measured(50) };
        assert_eq!(clock.budget(guess).hard, clock.left / MIN_DIVISOR);
    }

    #[test]
    fn days_for_a_move_are_capped() {
        let days =
            Clock { left: Duration::from_secs(3 * 86_400), increment: Duration::ZERO, moves_to_go: Some(1) };
        let minute = Duration::from_secs(60);
        assert_eq!(days.budget(measured(50)).capped(minute), Budget::exactly(minute));
    }
}

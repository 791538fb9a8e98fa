//! How long to think about a move: a soft limit, after which nothing new is begun, and a hard limit, at
//! which the answer leaves whatever the search does.
//!
//! Here the two are worked out from the clock; [`pace`] moves the soft one while the search runs. All
//! numbers stand on top of these two files.

use std::time::Duration;

pub mod pace;

pub use pace::Pacer;

/// Our clock when a move is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What is left on it.
    pub left: Duration,
    /// What is added after the move.
    pub increment: Duration,
    /// Moves until more time is added; `None`: this must do for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// The two limits, counted from the moment the move was asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// When to stop deepening, should the search be neither surer nor less sure than usual.
    pub soft: Duration,
    /// When the answer leaves.
    pub hard: Duration,
}

/// What is not ours to think with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Kept in hand for the way to the server and back, and for our own lateness.
    pub lag: Duration,
    /// Is that measured, or only what the configuration says?
    pub measured: bool,
}

/// For a game without an end in sight, plan for so many more moves.
const MOVES_AHEAD: u32 = 22;
/// The part of the increment that a move may use at once.
const OF_INCREMENT: f64 = 0.85;
/// A move in trouble may take this many times its fair share …
const STRETCH: u32 = 4;
/// … but never more than this part of what is left.
const OF_LEFT: f64 = 0.5;
/// An iteration begun late seldom ends: begin none after this part of the fair share.
const OF_SHARE: f64 = 0.7;
/// Where the reserve would eat the clock up, think for this part of it all the same: a move is owed.
/// No more than this is used either while the lag is only a guess, so that a wrong one loses no game.
const LAST_RESERVE: u32 = 8;

impl Clock {
    /// The limits for one move.
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
        let moves = self.moves_to_go.unwrap_or(MOVES_AHEAD).clamp(1, MOVES_AHEAD);
        // What the increment does not pay of the lag, each move to come will cost as well.
        let to_come = reserve.lag.saturating_sub(self.increment).saturating_mul(moves - 1);
        let least = self.left / LAST_RESERVE;
        let usable = self.left.saturating_sub(reserve.lag.saturating_add(to_come)).max(least);
        let share = usable / moves + self.increment.mul_f64(OF_INCREMENT);
        let most = match moves {
            // Where each move has its own time, a lag cannot be measured, and being careful would never end.
            1 => usable,
            _ if !reserve.measured => least,
            _ => usable.mul_f64(OF_LEFT),
        };
        let hard = share.saturating_mul(STRETCH).min(most);
        Budget { soft: share.mul_f64(OF_SHARE).min(hard), hard }
    }
}

/// A timer knows no shorter time: what is to be done in less is done at once.
const INSTANT: Duration = Duration::from_millis(1);

impl Budget {
    /// Is there no time to think at all? Near the end of a clock without increment, each search that is
    /// only begun would cost more than it may.
    pub fn is_instant(self) -> bool {
        self.hard < INSTANT
    }

    /// Just this long, and no less without need.
    pub fn exactly(time: Duration) -> Budget {
        Budget { soft: time, hard: time }
    }

    /// At most this long.
    pub fn capped(self, longest: Duration) -> Budget {
        Budget { soft: self.soft.min(longest), hard: self.hard.min(longest) }
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

        /// A whole game, each move with the longest time allowed and the whole lag on top of it.
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
        assert_eq!(clock.budget(guess).hard, clock.left / LAST_RESERVE);
    }

    #[test]
    fn days_for_a_move_are_capped() {
        let days =
            Clock { left: Duration::from_secs(3 * 86_400), increment: Duration::ZERO, moves_to_go: Some(1) };
        let minute = Duration::from_secs(60);
        assert_eq!(days.budget(measured(50)).capped(minute), Budget::exactly(minute));
    }
}

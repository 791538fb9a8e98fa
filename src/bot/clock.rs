//! How long to think about a move: a soft limit, after which nothing new is begun, and a hard limit, at
//! which the answer leaves whatever the search does.

use std::time::Duration;

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
    /// When to stop deepening.
    pub soft: Duration,
    /// When the answer leaves.
    pub hard: Duration,
}

/// For a game without an end in sight, plan for so many more moves.
const MOVES_AHEAD: u32 = 24;
/// The part of the increment that a move may use at once.
const OF_INCREMENT: f64 = 0.75;
/// A move in trouble may take this many times its fair share …
const STRETCH: u32 = 4;
/// … but never more than this part of what is left.
const OF_LEFT: f64 = 0.5;
/// An iteration begun late seldom ends: begin none after this part of the fair share.
const OF_SHARE: f64 = 0.7;
/// Where the overhead would eat the clock up, think for this part of it all the same: a move is owed.
const LAST_RESERVE: u32 = 8;

impl Clock {
    /// The limits for one move, with `overhead` kept in hand for the way to the server and back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use zeitnot::bot::clock::Clock;
    ///
    /// let clock = Clock { left: Duration::from_secs(60), increment: Duration::ZERO, moves_to_go: None };
    /// let budget = clock.budget(Duration::from_millis(50));
    /// assert!(budget.soft < budget.hard && budget.hard < Duration::from_secs(30));
    /// ```
    pub fn budget(&self, overhead: Duration) -> Budget {
        let usable = self.left.saturating_sub(overhead).max(self.left / LAST_RESERVE);
        let moves = self.moves_to_go.unwrap_or(MOVES_AHEAD).clamp(1, MOVES_AHEAD);
        let share = usable / moves + self.increment.mul_f64(OF_INCREMENT);
        let most = if moves == 1 { usable } else { usable.mul_f64(OF_LEFT) };
        let hard = share.saturating_mul(STRETCH).min(most);
        Budget { soft: share.mul_f64(OF_SHARE).min(hard), hard }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clocks() -> impl Strategy<Value = Clock> {
        (0u64..20_000_000, 0u64..200_000, prop::option::of(0u32..100)).prop_map(
            |(left, increment, moves_to_go)| Clock {
                left: Duration::from_millis(left),
                increment: Duration::from_millis(increment),
                moves_to_go,
            },
        )
    }

    proptest! {
        #[test]
        fn soft_before_hard_before_the_flag(clock in clocks(), overhead in 0u64..2_000) {
            let overhead = Duration::from_millis(overhead);
            let budget = clock.budget(overhead);
            prop_assert!(budget.soft <= budget.hard);
            prop_assert!(budget.hard <= clock.left);
            if clock.left > 2 * overhead {
                prop_assert!(budget.hard + overhead <= clock.left);
            }
        }

        #[test]
        fn more_time_is_never_less(clock in clocks(), more in 0u64..1_000_000) {
            let overhead = Duration::from_millis(50);
            let richer = Clock { left: clock.left + Duration::from_millis(more), ..clock };
            prop_assert!(richer.budget(overhead).soft >= clock.budget(overhead).soft);
            prop_assert!(richer.budget(overhead).hard >= clock.budget(overhead).hard);
        }
    }

    #[test]
    fn the_last_move_before_the_time_control_may_use_it_all() {
        let clock = Clock { left: Duration::from_secs(10), increment: Duration::ZERO, moves_to_go: Some(1) };
        assert_eq!(clock.budget(Duration::from_secs(1)).hard, Duration::from_secs(9));
    }
}

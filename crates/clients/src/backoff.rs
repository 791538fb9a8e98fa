//! Back-off: random delays between attempts, which grow while nothing is at stake, and stay short while a game runs.

use std::{iter::Peekable, time::Duration};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use serde::{Deserialize, Serialize};
use zeitnot_net::Contradictions;
use zeitnot_settings::{HumanTime, JsonSchema, schemars};

/// Maximum of a delay while a game of ours runs …
const MAX_IN_GAME: Duration = Duration::from_secs(2);
/// … which is also at most this part of our time left …
const PART: u32 = 16;
/// … but not less than this, as the server has other clients.
const MIN_IN_GAME: Duration = Duration::from_millis(100);

/// Delays between attempts to connect. They double with each failure, and random jitter keeps the clients of one
/// server from returning all at once after a restart. While a game of ours goes on without the connection, no delay is
/// longer than a small part of our clock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-inline" = true))]
pub struct Reconnect {
    /// Minimum of the first delay.
    #[serde(with = "HumanTime")]
    pub min_delay: Duration,
    /// Maximum of all delays.
    #[serde(with = "HumanTime")]
    pub max_delay: Duration,
    /// A connection that lasted this long resets the delay.
    #[serde(with = "HumanTime")]
    pub stable_after: Duration,
}

impl Default for Reconnect {
    fn default() -> Reconnect {
        let seconds = Duration::from_secs;
        Reconnect { min_delay: seconds(1), max_delay: seconds(60), stable_after: seconds(30) }
    }
}

impl Reconnect {
    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        found.within("reconnect", |found| {
            found.above_zero(&[("min_delay", self.min_delay)]);
            found.ordered(("min_delay", Some(self.min_delay)), ("max_delay", Some(self.max_delay)));
        });
    }

    /// The delays after the first failure, the second, and so on, while no game runs.
    pub(crate) fn delays(&self) -> ExponentialBackoff {
        // Jitter adds up to the delay itself.
        let max_delay = self.max_delay / 2;
        let delays = ExponentialBuilder::new().with_min_delay(self.min_delay).with_max_delay(max_delay);
        delays.with_jitter().without_max_times().build()
    }
}

/// Delays of one series of attempts.
#[derive(Debug)]
pub(crate) struct Backoff {
    reconnect: Reconnect,
    delays: Peekable<ExponentialBackoff>,
}

impl Backoff {
    /// Creates a series without failures so far.
    pub(crate) fn new(reconnect: &Reconnect) -> Backoff {
        Backoff { reconnect: reconnect.clone(), delays: reconnect.delays().peekable() }
    }

    /// An attempt was of use: the next delay is the first again.
    pub(crate) fn reset(&mut self) {
        self.delays = self.reconnect.delays().peekable();
    }

    /// A connection lasted this long, which resets the delay if that is long enough.
    pub(crate) fn lasted(&mut self, time: Duration) {
        if time >= self.reconnect.stable_after {
            self.reset();
        }
    }

    /// Returns the next delay, where a running game leaves us this much time; `None`: no game runs. Delays that a game
    /// cuts off do not grow: many short ones would end in a long one as soon as the game is over.
    pub(crate) fn next(&mut self, time_left: Option<Duration>) -> Duration {
        let max = self.reconnect.max_delay;
        let delay = self.delays.peek().map_or(max, |delay| max.min(*delay));
        match time_left {
            Some(left) if delay > max_in_game(left) => long_in_game(left),
            _ => {
                self.delays.next();
                delay
            }
        }
    }
}

/// Returns a long delay while a game runs that leaves us this much time. Delays that are cut off must not all be the
/// same.
pub(crate) fn long_in_game(time_left: Duration) -> Duration {
    max_in_game(time_left).mul_f64(1.0 - fastrand::f64() / 2.0)
}

/// Returns the longest delay while a game runs that leaves us this much time. Once there is none, nothing is urgent.
pub(crate) fn max_in_game(time_left: Duration) -> Duration {
    if time_left.is_zero() {
        return MAX_IN_GAME;
    }
    (time_left / PART).clamp(MIN_IN_GAME, MAX_IN_GAME)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, env, process::Command};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn delays(count: usize, time_left: Option<Duration>) -> Vec<Duration> {
        let mut backoff = Backoff::new(&Reconnect::default());
        (0..count).map(|_| backoff.next(time_left)).collect()
    }

    #[test]
    fn delays_grow_while_no_game_runs() {
        let minimum = [1, 2, 4, 8, 16, 30, 30].map(|times| times * SECOND);
        for (delay, minimum) in delays(minimum.len(), None).into_iter().zip(minimum) {
            assert!((minimum..=2 * minimum).contains(&delay), "{delay:?} for {minimum:?}");
        }
    }

    #[test]
    fn no_delay_is_longer_than_a_small_part_of_our_clock() {
        for (left, max) in [
            (600 * SECOND, 2 * SECOND),
            (16 * SECOND, SECOND),
            (4 * SECOND, SECOND / 4),
            (SECOND / 1000, SECOND / 10),
            (Duration::ZERO, 2 * SECOND),
        ] {
            let delays = delays(20, Some(left));
            assert!(delays.iter().all(|delay| *delay <= max && *delay >= max.min(SECOND) / 2), "{delays:?}");
            // Those that are cut off differ as well.
            assert!(delays.iter().collect::<BTreeSet<_>>().len() > 10, "{delays:?}");
        }
    }

    #[test]
    fn delays_that_a_game_cuts_off_do_not_grow() {
        let mut backoff = Backoff::new(&Reconnect::default());
        for _ in 0..20 {
            backoff.next(Some(4 * SECOND));
        }
        let delay = backoff.next(None);
        assert!(delay <= 2 * SECOND, "{delay:?}");
    }

    #[test]
    fn two_sessions_of_a_process_have_other_delays() {
        assert_ne!(delays(5, None), delays(5, None));
        assert_ne!(delays(5, Some(SECOND)), delays(5, Some(SECOND)));
    }

    /// This test starts itself twice as a program of its own, which prints its delays.
    #[test]
    fn two_processes_have_other_delays() {
        const CHILD: &str = "ZEITNOT_TEST_BACKOFF";
        if env::var_os(CHILD).is_some() {
            return println!("delays: {:?}", delays(5, None));
        }
        let told = || {
            let name = "backoff::tests::two_processes_have_other_delays";
            let mut program = Command::new(env::current_exe().unwrap());
            let output = program.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().find(|line| line.contains("delays: ")).unwrap().to_owned()
        };
        assert_ne!(told(), told());
    }
}

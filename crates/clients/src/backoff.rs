//! The pauses between attempts to reach a server that is away.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// Pauses that double, and are stretched by chance up to twofold, so that those whom one restart threw out, a
/// class or a hundred bots, do not come back all at once.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
    steady: Duration,
    pauses: ExponentialBackoff,
}

impl Backoff {
    /// From `first` to `longest`; an attempt that lasted `steady` was a good one, and they begin small again.
    pub fn new(first: Duration, longest: Duration, steady: Duration) -> Backoff {
        Backoff { first, longest, steady, pauses: pauses(first, longest) }
    }

    /// The last attempt was a good one.
    pub fn reset(&mut self) {
        self.pauses = pauses(self.first, self.longest);
    }

    /// How long to wait after an attempt that lasted so long.
    pub fn pause(&mut self, lasted: Duration) -> Duration {
        if lasted >= self.steady {
            self.reset();
        }
        self.pauses.next().unwrap_or(self.longest)
    }
}

fn pauses(first: Duration, longest: Duration) -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(first)
        .with_max_delay(longest / 2)
        .with_factor(2.0)
        .with_jitter()
        .without_max_times()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_begin_anew_behind_a_good_attempt() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new(second, 16 * second, 30 * second);
        for times in [1, 2, 4, 8, 8, 8] {
            let pause = backoff.pause(second);
            assert!((times * second..=2 * times * second).contains(&pause), "{times}: {pause:?}");
        }
        assert!(backoff.pause(30 * second) <= 2 * second);
    }
}

//! Rations: how often something may happen, with a reserve for bursts.

use std::{sync::Mutex, time::Duration};

use tokio::time::Instant;

/// Token bucket: a burst at once, and one more after each interval.
#[derive(Clone, Debug)]
pub(crate) struct Ration {
    burst: u32,
    interval: Duration,
    left: u32,
    /// Up to when the reserve is filled.
    filled: Instant,
}

impl Ration {
    pub(crate) fn new(burst: u32, interval: Duration) -> Ration {
        Ration { burst, interval, left: burst, filled: Instant::now() }
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.filled).as_nanos() / self.interval.as_nanos().max(1);
        let earned = u32::try_from(passed).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(earned).min(self.burst);
        self.filled = if self.left == self.burst { now } else { self.filled + self.interval * earned };
        let has_one = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_one
    }
}

/// Lines of a log that strangers cause: the first of them, then so many a second, and the number of those left out.
#[derive(Debug)]
pub(crate) struct LogThrottle(Mutex<(Ration, u64)>);

/// Lines at once.
const LINES: u32 = 20;
/// Interval of further lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

impl LogThrottle {
    pub(crate) fn new() -> LogThrottle {
        LogThrottle(Mutex::new((Ration::new(LINES, LINE_INTERVAL), 0)))
    }

    /// Logs a line, unless there were too many of them.
    pub(crate) fn info(&self, line: impl FnOnce() -> String) {
        match self.admit() {
            None => {}
            Some(0) => tracing::info!("{}", line()),
            Some(left_out) => {
                tracing::info!("{} ({left_out} lines like this one were left out before)", line())
            }
        }
    }

    /// Returns whether a line may be logged now, as the number of lines that were left out before it.
    fn admit(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (ration, left_out) = &mut *state;
        if ration.take(Instant::now()) {
            Some(std::mem::take(left_out))
        } else {
            *left_out = left_out.saturating_add(1);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_burst_and_then_one_after_each_interval() {
        let mut ration = Ration::new(3, SECOND);
        let mut taken = |tries: usize| (0..tries).filter(|_| ration.take(Instant::now())).count();
        assert_eq!(taken(10), 3);
        advance(SECOND / 2).await;
        assert_eq!(taken(1), 0);
        advance(SECOND / 2).await;
        assert_eq!(taken(2), 1);
        advance(100 * SECOND).await;
        assert_eq!(taken(10), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_leaves_few_lines_and_their_number() {
        let throttle = LogThrottle::new();
        let logged = (0..1000).filter(|_| throttle.admit().is_some()).count();
        assert_eq!(logged, LINES as usize);
        advance(SECOND).await;
        assert_eq!(throttle.admit(), Some(1000 - u64::from(LINES)));
    }
}

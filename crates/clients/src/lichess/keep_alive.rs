//! Silence limit of streams, by how often this server writes to a stream on which nothing happens.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Limit where the interval is not known: Lichess sends an empty line every 7 s.
const DEFAULT_LIMIT: Duration = Duration::from_secs(8);
/// Lateness of an empty line that does not count as silence.
const MARGIN: Duration = Duration::from_secs(1);
/// Limit for a server with short intervals, as a network may pause.
const MIN_LIMIT: Duration = Duration::from_secs(3);
/// The limit doubles so often while streams fall silent.
const MAX_DOUBLINGS: u32 = 8;

/// Interval of a server's empty lines, measured on all streams of an account.
#[derive(Debug, Default)]
pub(crate) struct KeepAlive(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    interval: Option<Duration>,
    /// Silences since the interval was measured.
    doublings: u32,
}

impl State {
    fn limit(&self, max: Duration) -> Duration {
        let limit = self.interval.map_or(DEFAULT_LIMIT, |interval| (interval + MARGIN).max(MIN_LIMIT));
        limit.saturating_mul(1 << self.doublings).min(max)
    }
}

impl KeepAlive {
    /// Returns how long a stream may be silent, `max` at most.
    pub(crate) fn limit(&self, max: Duration) -> Duration {
        self.state().limit(max)
    }

    /// Notes the time between two empty lines with nothing between them.
    pub(crate) fn measured(&self, interval: Duration) {
        let state = &mut *self.state();
        // Late lines count at once, and are forgotten slowly.
        let known = state.interval.unwrap_or_default();
        state.interval = Some(interval.max((known * 7 + interval) / 8));
        state.doublings = 0;
    }

    /// Notes a stream that was silent for this long. Until an interval is measured again, this may be a server that
    /// writes less often.
    pub(crate) fn silent(&self, limit: Duration, max: Duration) {
        let state = &mut *self.state();
        // Streams that were silent at the same time count once.
        if limit == state.limit(max) {
            state.doublings = (state.doublings + 1).min(MAX_DOUBLINGS);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MAX: Duration = Duration::from_secs(17);

    #[test]
    fn the_limit_follows_the_servers_interval() {
        let keep_alive = KeepAlive::default();
        assert_eq!(keep_alive.limit(MAX), 8 * SECOND);
        for (interval, limit) in [(7, 8), (6, 8), (1, 8), (12, 13), (30, 17)] {
            keep_alive.measured(interval * SECOND);
            let rounded = Duration::from_secs_f64(keep_alive.limit(MAX).as_secs_f64().round());
            assert!(
                rounded <= limit * SECOND && rounded + SECOND >= limit * SECOND,
                "{interval}: {rounded:?}"
            );
        }
        for _ in 0..100 {
            keep_alive.measured(SECOND / 5);
        }
        assert_eq!(keep_alive.limit(MAX), 3 * SECOND);
        assert_eq!(keep_alive.limit(SECOND), SECOND);
    }

    #[test]
    fn a_server_that_writes_rarely_is_given_more_time() {
        let keep_alive = KeepAlive::default();
        for limit in [8, 16, 17, 17] {
            let limit = limit * SECOND;
            assert_eq!(keep_alive.limit(MAX), limit);
            // Several streams at once.
            (0..9).for_each(|_| keep_alive.silent(limit, MAX));
        }
        keep_alive.measured(10 * SECOND);
        assert_eq!(keep_alive.limit(MAX), 11 * SECOND);
    }
}

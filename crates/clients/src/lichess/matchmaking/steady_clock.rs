//! Clock of the matchmaker. It counts from 1970, as some of its times are kept between runs, but a system clock that is set
//! meanwhile changes none of its waits.

use std::time::{Duration, Instant};

#[derive(Copy, Clone, Debug)]
pub(super) struct SteadyClock {
    started: Instant,
    /// Since 1970.
    started_at: Duration,
}

impl SteadyClock {
    /// Starts at this time since 1970.
    pub(super) fn new(now: Instant, started_at: Duration) -> SteadyClock {
        SteadyClock { started: now, started_at }
    }

    /// Returns the time since 1970.
    pub(super) fn at(&self, now: Instant) -> Duration {
        self.started_at + now.saturating_duration_since(self.started)
    }
}

//! Clock of the matchmaker. It counts from 1970, as some of its times are kept between runs, but a system clock that is set
//! meanwhile changes none of its waits.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

#[derive(Copy, Clone, Debug)]
pub(super) struct SteadyClock {
    started: Instant,
    /// Since 1970.
    started_at: Duration,
}

impl SteadyClock {
    /// Starts by the system's clock.
    pub(super) fn start() -> SteadyClock {
        let started_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        SteadyClock { started: Instant::now(), started_at }
    }

    /// Returns the time since 1970.
    pub(super) fn now(&self) -> Duration {
        self.started_at + self.started.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test(start_paused = true)]
    async fn it_goes_as_timers_do() {
        let clock = SteadyClock::start();
        let start = clock.now();
        let hour = Duration::from_secs(3600);
        tokio::time::advance(hour).await;
        assert_eq!(clock.now(), start + hour);
    }
}

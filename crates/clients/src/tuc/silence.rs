//! Silence of a server, reported at growing intervals: the protocol does not tell a server that thinks from a dead one.

use std::time::Duration;

use tokio::time::Instant;

/// Silence before the first report. Each further report waits as long as all before.
const FIRST_REPORT: Duration = Duration::from_secs(15);

/// Time since a sign of life.
#[derive(Copy, Clone, Debug)]
pub(super) struct Silence {
    since: Instant,
    reported: Duration,
}

impl Silence {
    /// Begins now.
    pub(super) fn new() -> Silence {
        Silence { since: Instant::now(), reported: Duration::ZERO }
    }

    /// Returns when the silence has lasted for `limit`.
    pub(super) fn ends(&self, limit: Duration) -> Instant {
        self.since + limit
    }

    /// Returns when the next report is due.
    pub(super) fn report_due(&self) -> Instant {
        self.since + FIRST_REPORT.max(2 * self.reported)
    }

    /// Returns how long it has lasted in whole seconds, if a report is due.
    pub(super) fn report(&mut self) -> Option<u64> {
        (Instant::now() >= self.report_due()).then(|| {
            self.reported = self.since.elapsed();
            self.reported.as_secs()
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep_until;

    use super::*;

    #[test(start_paused = true)]
    async fn reports_come_at_growing_intervals() {
        let mut silence = Silence::new();
        assert_eq!(silence.report(), None);
        for seconds in [15, 30, 60, 120] {
            sleep_until(silence.report_due()).await;
            assert_eq!(silence.report(), Some(seconds));
            assert_eq!(silence.report(), None);
        }
    }
}

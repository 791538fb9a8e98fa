//! Silence of a server, reported at growing intervals: the protocol does not tell a server that thinks from a dead one.

use std::time::{Duration, Instant};

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
    pub(super) fn new(now: Instant) -> Silence {
        Silence { since: now, reported: Duration::ZERO }
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
    pub(super) fn report(&mut self, now: Instant) -> Option<u64> {
        (now >= self.report_due()).then(|| {
            self.reported = now.saturating_duration_since(self.since);
            self.reported.as_secs()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_at_growing_intervals() {
        let start = Instant::now();
        let mut silence = Silence::new(start);
        assert_eq!(silence.report(start), None);
        for seconds in [15, 30, 60, 120] {
            let due = silence.report_due();
            assert_eq!(due, start + Duration::from_secs(seconds));
            assert_eq!(silence.report(due), Some(seconds));
            assert_eq!(silence.report(due), None);
        }
    }
}

//! Repeated log messages: the first of a subject is logged, later ones are counted and summarised.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};

/// Bounds of the interval between two summaries, which doubles each time.
const MIN_INTERVAL: Duration = Duration::from_secs(60);
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

/// Message counts by subject, shared by all tasks of an account.
#[derive(Debug, Default)]
pub(crate) struct LogThrottle(Mutex<BTreeMap<String, Subject>>);

#[derive(Debug)]
struct Subject {
    since: Instant,
    interval: Duration,
    suppressed: u32,
}

impl Subject {
    fn due(&self) -> Instant {
        self.since + self.interval
    }
}

impl LogThrottle {
    /// Returns whether a message on this subject is to be logged now. If not, it is counted.
    pub(crate) fn admits(&self, subject: &str, now: Instant) -> bool {
        let mut subjects = self.subjects();
        if let Some(known) = subjects.get_mut(subject) {
            known.suppressed = known.suppressed.saturating_add(1);
            return false;
        }
        subjects.insert(subject.to_owned(), Subject { since: now, interval: MIN_INTERVAL, suppressed: 0 });
        true
    }

    /// Logs a warning, or counts it.
    pub(crate) fn warn(&self, subject: &str, message: fmt::Arguments<'_>) {
        if self.admits(subject, Instant::now()) {
            warn!("{message}");
        } else {
            debug!("{message}");
        }
    }

    /// Logs the summaries that are due.
    pub(crate) fn summarise(&self, now: Instant) {
        self.due(now).into_iter().for_each(log_summary);
    }

    pub(crate) fn close(&self) {
        self.rest().into_iter().for_each(log_summary);
    }

    /// Returns when the next summary may be due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.subjects().values().map(Subject::due).min()
    }

    fn due(&self, now: Instant) -> Vec<(String, u32)> {
        let mut subjects = self.subjects();
        subjects.retain(|_, subject| subject.suppressed > 0 || now < subject.due());
        let due = subjects.iter_mut().filter(|(_, subject)| now >= subject.due());
        due.map(|(name, subject)| {
            subject.since = now;
            subject.interval = (2 * subject.interval).min(MAX_INTERVAL);
            (name.clone(), mem::take(&mut subject.suppressed))
        })
        .collect()
    }

    fn rest(&self) -> Vec<(String, u32)> {
        let subjects = mem::take(&mut *self.subjects());
        let counts = subjects.into_iter().map(|(name, subject)| (name, subject.suppressed));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    fn subjects(&self) -> MutexGuard<'_, BTreeMap<String, Subject>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_summary((subject, count): (String, u32)) {
    info!("{count} more {subject}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_messages_are_counted() {
        let (log, now) = (LogThrottle::default(), Instant::now());
        assert!(log.admits("later", now) && log.admits("variant", now));
        for _ in 0..999 {
            assert!(!log.admits("later", now));
        }
        assert!(log.due(now).is_empty());
        assert_eq!(log.next_due(), Some(now + MIN_INTERVAL));
        assert_eq!(log.due(now + MIN_INTERVAL), [("later".to_owned(), 999)]);
        assert!(log.admits("variant", now + MIN_INTERVAL) && log.rest().is_empty());
    }

    #[test]
    fn summaries_become_rarer_and_a_subject_that_was_quiet_begins_anew() {
        let (log, start) = (LogThrottle::default(), Instant::now());
        assert!(log.admits("away", start));
        let mut summaries = 0;
        let day = 86_400;
        for second in 1..=day {
            let now = start + Duration::from_secs(second);
            assert!(!log.admits("away", now));
            summaries += log.due(now).len();
        }
        assert!((24..=31).contains(&summaries), "{summaries}");
        let end = start + Duration::from_secs(day) + 2 * MAX_INTERVAL;
        assert_eq!(log.due(end).len(), 1);
        assert!(log.due(end + MAX_INTERVAL).is_empty() && log.admits("away", end + MAX_INTERVAL));
    }
}

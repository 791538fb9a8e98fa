//! Repeated log messages: of each subject a ration is logged, the rest is counted and summarised.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};

use crate::ration::{Rate, Ration};

/// Bounds of the interval between two summaries, which doubles each time.
const MIN_INTERVAL: Duration = Duration::from_secs(60);
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

/// Message counts by subject, shared by all tasks of an account or a listener.
#[derive(Debug)]
pub struct LogThrottle {
    lines: Rate,
    subjects: Mutex<BTreeMap<String, Subject>>,
}

#[derive(Debug)]
struct Subject {
    lines: Ration,
    since: Instant,
    interval: Duration,
    suppressed: u32,
}

impl Subject {
    fn due(&self) -> Instant {
        self.since + self.interval
    }
}

impl Default for LogThrottle {
    /// The first message of each subject is logged.
    fn default() -> Self {
        LogThrottle::new(Rate { burst: 1, interval: MAX_INTERVAL })
    }
}

impl LogThrottle {
    /// Creates a throttle for what strangers cause, where each message may tell something new.
    pub fn for_strangers() -> Self {
        LogThrottle::new(Rate { burst: 20, interval: Duration::from_secs(1) })
    }

    fn new(lines: Rate) -> Self {
        LogThrottle { lines, subjects: Mutex::default() }
    }

    /// Returns whether a message on this subject is to be logged now. If not, it is counted.
    pub fn admits(&self, subject: &str, now: Instant) -> bool {
        let mut subjects = self.subjects();
        let known = match subjects.get_mut(subject) {
            Some(known) => known,
            None => {
                let lines = Ration::new(self.lines);
                let new = Subject { lines, since: now, interval: MIN_INTERVAL, suppressed: 0 };
                subjects.entry(subject.to_owned()).or_insert(new)
            }
        };
        let is_admitted = known.lines.take();
        known.suppressed = known.suppressed.saturating_add(u32::from(!is_admitted));
        is_admitted
    }

    /// Logs a message, or counts it, and logs the summaries that are due.
    pub fn info(&self, subject: &str, message: impl FnOnce() -> String) {
        let now = Instant::now();
        self.summarise(now);
        if self.admits(subject, now) {
            info!("{}", message());
        }
    }

    /// Logs a warning, or counts it. Returns whether it was logged.
    pub fn warn(&self, subject: &str, message: fmt::Arguments<'_>) -> bool {
        let is_admitted = self.admits(subject, Instant::now());
        if is_admitted {
            warn!("{message}");
        } else {
            debug!("{message}");
        }
        is_admitted
    }

    /// Logs the summaries that are due.
    pub fn summarise(&self, now: Instant) {
        self.due(now).into_iter().for_each(log_summary);
    }

    /// Logs all summaries, and begins anew.
    pub fn close(&self) {
        self.rest().into_iter().for_each(log_summary);
    }

    /// Returns when the next summary may be due.
    pub fn next_due(&self) -> Option<Instant> {
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
        self.subjects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_summary((subject, count): (String, u32)) {
    info!("{count} more {subject}");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::{
        Event, Level, Metadata, Subscriber,
        field::Field,
        span::{Attributes, Id, Record},
        subscriber,
    };

    use super::*;

    /// Keeps the lines of the log.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::INFO
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut lines = self.0.lock().unwrap();
            let level = event.metadata().level();
            event.record(&mut |_: &Field, message: &dyn fmt::Debug| {
                lines.push(format!("{level} {message:?}"))
            });
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn what_is_not_logged_is_counted_in_a_summary() {
        let lines = Lines::default();
        subscriber::with_default(lines.clone(), || {
            let log = LogThrottle::default();
            for _ in 0..3 {
                log.warn("late moves", format_args!("a move is late"));
                log.info("joins", || "alice joins".to_owned());
            }
            log.summarise(Instant::now() + MIN_INTERVAL);
            log.warn("late moves", format_args!("a move is late"));
            log.close();
        });
        let expected = [
            "WARN a move is late",
            "INFO alice joins",
            "INFO 2 more joins",
            "INFO 2 more late moves",
            "INFO 1 more late moves",
        ];
        assert_eq!(*lines.0.lock().unwrap(), expected);
    }

    #[test]
    fn repeated_messages_are_counted() {
        let log = LogThrottle::default();
        let now = Instant::now();
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
        let log = LogThrottle::default();
        let start = Instant::now();
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

    #[test(start_paused = true)]
    async fn a_flood_leaves_a_ration_of_lines_and_their_number() {
        let log = LogThrottle::for_strangers();
        let now = Instant::now();
        assert_eq!((0..1000).filter(|_| log.admits("thrown out", now)).count(), 20);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..1000).filter(|_| log.admits("thrown out", now)).count(), 1);
        assert_eq!(log.due(now + MIN_INTERVAL), [("thrown out".to_owned(), 980 + 999)]);
    }
    #[test]
    fn lines_count_whatever_their_level_and_summaries_begin_the_count_anew() {
        let log = LogThrottle::default();
        assert!(log.warn("late", format_args!("a move is late")));
        assert!(!log.warn("late", format_args!("a move is late")));
        log.info("late", || "a move is late".to_owned());
        log.info("early", || "a move is early".to_owned());
        log.info("early", || "a move is early".to_owned());
        let later = Instant::now() + MIN_INTERVAL;
        log.summarise(later);
        assert!(log.due(later + MAX_INTERVAL).is_empty(), "the summary has been given");
        for subject in ["late", "early"] {
            assert!(log.admits(subject, later) && !log.admits(subject, later));
        }
        assert_eq!(log.rest(), [("early".to_owned(), 1), ("late".to_owned(), 1)]);
        assert!(log.admits("late", later) && !log.admits("late", later));
        log.close();
        assert_eq!(log.next_due(), None);
        assert!(log.rest().is_empty() && log.admits("late", later));
    }

    #[test]
    fn a_quiet_subject_is_forgotten_when_its_summary_is_due_and_not_before() {
        let log = LogThrottle::default();
        let start = Instant::now();
        assert!(log.admits("quiet", start));
        let due = start + MIN_INTERVAL;
        assert!(log.due(due - Duration::from_millis(1)).is_empty());
        assert!(!log.admits("quiet", start), "it is still known");
        assert_eq!(log.due(due).len(), 1);
        // The next interval is twice as long, and without a message it ends the count.
        assert!(log.due(due + 2 * MIN_INTERVAL - Duration::from_millis(1)).is_empty());
        assert_eq!(log.next_due(), Some(due + 2 * MIN_INTERVAL));
        assert!(log.due(due + 2 * MIN_INTERVAL).is_empty());
        assert_eq!(log.next_due(), None);
    }
}

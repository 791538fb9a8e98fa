//! What would be told a thousand times is told once, and then with its number: less and less often while it lasts.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};

use super::http::HttpError;

/// So long the same is only counted, at first and at last.
const QUIET: Duration = Duration::from_secs(60);
const QUIETEST: Duration = Duration::from_secs(3600);

/// Counts what was told, by its subject. All that belongs to an account tells it through the same one: where the
/// server is away, that is one line, not one a game.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<BTreeMap<String, Told>>);

#[derive(Debug)]
struct Told {
    since: Instant,
    quiet: Duration,
    more: u32,
}

impl Told {
    fn due(&self) -> Instant {
        self.since + self.quiet
    }
}

impl Tally {
    /// Is this to be told now? Otherwise it counts.
    pub fn tell(&self, subject: &str, now: Instant) -> bool {
        let mut subjects = self.subjects();
        if let Some(told) = subjects.get_mut(subject) {
            told.more = told.more.saturating_add(1);
            return false;
        }
        subjects.insert(subject.to_owned(), Told { since: now, quiet: QUIET, more: 0 });
        true
    }

    /// Warns of it, or counts.
    pub fn warn(&self, subject: &str, words: fmt::Arguments<'_>) {
        if self.tell(subject, Instant::now()) {
            warn!("{words}");
        } else {
            debug!("{words}");
        }
    }

    /// Warns of an error that is expected to pass, with what is done about it.
    pub fn failed(&self, error: &HttpError, words: fmt::Arguments<'_>) {
        let subject = match error {
            HttpError::Limited { .. } => "requests that were too many",
            _ => FAILURES,
        };
        self.warn(subject, words);
    }

    /// Tells what has been quiet for long enough, with how often it has happened since it was told.
    pub fn report(&self, now: Instant) {
        self.due(now).into_iter().for_each(report);
    }

    /// Tells all that was counted and not told yet.
    pub fn close(&self) {
        self.rest().into_iter().for_each(report);
    }

    /// When there may be something to [report](Tally::report).
    pub fn next(&self) -> Option<Instant> {
        self.subjects().values().map(Told::due).min()
    }

    fn due(&self, now: Instant) -> Vec<(String, u32)> {
        let mut subjects = self.subjects();
        subjects.retain(|_, told| told.more > 0 || now < told.due());
        let due = subjects.iter_mut().filter(|(_, told)| now >= told.due());
        due.map(|(subject, told)| {
            told.since = now;
            told.quiet = (2 * told.quiet).min(QUIETEST);
            (subject.clone(), mem::take(&mut told.more))
        })
        .collect()
    }

    fn rest(&self) -> Vec<(String, u32)> {
        let subjects = mem::take(&mut *self.subjects());
        let more = subjects.into_iter().map(|(subject, told)| (subject, told.more));
        more.filter(|(_, more)| *more > 0).collect()
    }

    fn subjects(&self) -> MutexGuard<'_, BTreeMap<String, Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What most trouble is.
pub(super) const FAILURES: &str = "failures of the network or the server";

fn report((subject, more): (String, u32)) {
    info!("{more} more {subject}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_and_then_with_its_number() {
        let (tally, now) = (Tally::default(), Instant::now());
        assert!(tally.tell("later", now) && tally.tell("variant", now));
        for _ in 0..999 {
            assert!(!tally.tell("later", now));
        }
        assert!(tally.due(now).is_empty());
        assert_eq!(tally.next(), Some(now + QUIET));
        assert_eq!(tally.due(now + QUIET), [("later".to_owned(), 999)]);
        assert!(tally.tell("variant", now + QUIET) && tally.rest().is_empty());
    }

    #[test]
    fn what_goes_on_is_told_less_and_less_often_and_anew_when_it_was_over() {
        let (tally, start) = (Tally::default(), Instant::now());
        assert!(tally.tell("away", start));
        let mut told = 0;
        let day = 86_400;
        for second in 1..=day {
            let now = start + Duration::from_secs(second);
            assert!(!tally.tell("away", now));
            told += tally.due(now).len();
        }
        assert!((24..=31).contains(&told), "{told}");
        let end = start + Duration::from_secs(day) + 2 * QUIETEST;
        assert_eq!(tally.due(end).len(), 1);
        assert!(tally.due(end + QUIETEST).is_empty() && tally.tell("away", end + QUIETEST));
    }
}

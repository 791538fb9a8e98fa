//! Failures in a row, of which the first is reported, then one a minute, and the success after them.

use std::time::{Duration, Instant};

/// Time between two reports of an outage that lasts.
const PERIOD: Duration = Duration::from_secs(60);

/// Outage of something that is attempted again and again. A state machine without I/O.
#[derive(Debug, Default)]
pub struct Outage {
    /// First failure of the present outage, or of the last one.
    since: Option<Instant>,
    is_over: bool,
    /// Last report.
    reported: Option<Instant>,
    /// It was reported since its last end.
    owes_end: bool,
}

/// News from an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OutageNews {
    /// It failed, and the one before did not.
    Begins,
    /// It failed like all since so long ago.
    Lasts(Duration),
    /// It succeeded, and the ones before did not since so long ago.
    Ends(Duration),
}

impl Outage {
    /// Notes an attempt. Returns what is to be reported of it, if anything is new.
    pub fn note<T, E>(&mut self, attempt: &Result<T, E>) -> Option<OutageNews> {
        match attempt {
            Ok(_) => self.ended(Instant::now()),
            Err(_) => self.failed(Instant::now()),
        }
    }

    /// Notes a failure. Returns what is to be reported of it.
    pub fn failed(&mut self, now: Instant) -> Option<OutageNews> {
        if self.since.is_some() && !self.is_over {
            return self.lasts(now);
        }
        (self.since, self.is_over) = (Some(now), false);
        (self.reported, self.owes_end) = (Some(now), true);
        Some(OutageNews::Begins)
    }

    /// Notes a success. Returns what is to be reported of it.
    pub fn ended(&mut self, now: Instant) -> Option<OutageNews> {
        self.is_over = true;
        let lasted = now.saturating_duration_since(self.since?);
        std::mem::take(&mut self.owes_end).then_some(OutageNews::Ends(lasted))
    }

    fn lasts(&mut self, now: Instant) -> Option<OutageNews> {
        if now < self.reported? + PERIOD {
            return None;
        }
        (self.reported, self.owes_end) = (Some(now), true);
        Some(OutageNews::Lasts(now.saturating_duration_since(self.since?)))
    }
}

#[cfg(test)]
mod tests {
    use super::{OutageNews::*, *};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_first_failure_and_the_end_are_news() {
        let mut outage = Outage::default();
        let attempts = [Ok(()), Err(()), Err(()), Ok(()), Ok(()), Err(())];
        let news = attempts.map(|attempt| outage.note(&attempt));
        assert!(matches!(news, [None, Some(Begins), None, Some(Ends(_)), None, Some(Begins)]), "{news:?}");
    }

    #[test]
    fn an_outage_is_reported_once_a_minute() {
        let mut outage = Outage::default();
        let start = Instant::now();
        let reports: Vec<_> = (0..200).filter_map(|second| outage.failed(start + second * SECOND)).collect();
        assert_eq!(reports, [Begins, Lasts(60 * SECOND), Lasts(120 * SECOND), Lasts(180 * SECOND)]);
        assert_eq!(outage.ended(start + 200 * SECOND), Some(Ends(200 * SECOND)));
    }
}

//! One kind of look-up: one at a time, and further apart after each failure. No I/O and no clock.

use std::time::{Duration, Instant};

use crate::lichess::{HttpError, MAX_PAUSE};

/// Schedule of one kind of look-up.
#[derive(Debug)]
pub(crate) struct Lookup {
    min_delay: Duration,
    max_delay: Duration,
    /// Earliest time that somebody wishes. Wishes are merged until the next look-up begins.
    wanted_at: Option<Instant>,
    /// When the one that runs began.
    began: Option<Instant>,
    failures: u32,
    /// Earliest time of the next one, as the last one failed.
    not_before: Option<Instant>,
    /// The server said so.
    is_limited: bool,
}

impl Lookup {
    /// The delay after the first failure and its maximum; the delay doubles with each failure in a row.
    pub(crate) fn new(min_delay: Duration, max_delay: Duration) -> Lookup {
        Lookup {
            min_delay,
            max_delay: max_delay.max(min_delay),
            wanted_at: None,
            began: None,
            failures: 0,
            not_before: None,
            is_limited: false,
        }
    }

    /// Wishes for a look-up that begins then or later.
    pub(crate) fn want(&mut self, at: Instant) {
        self.wanted_at = Some(self.wanted_at.map_or(at, |wanted| wanted.min(at)));
    }

    pub(crate) fn is_running(&self) -> bool {
        self.began.is_some()
    }

    /// Returns when the one that runs began.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.began
    }

    /// Returns when the next one is to begin; `None` while one runs or nobody wishes for one.
    pub(crate) fn due(&self) -> Option<Instant> {
        let wanted = self.wanted_at.filter(|_| !self.is_running())?;
        Some(self.not_before.map_or(wanted, |earliest| earliest.max(wanted)))
    }

    /// Begins one if it is due. Returns whether it is.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
        if is_due {
            (self.wanted_at, self.began) = (None, Some(now));
        }
        is_due
    }

    pub(crate) fn succeeded(&mut self) {
        (self.began, self.failures, self.not_before, self.is_limited) = (None, 0, None, false);
    }

    /// The look-up failed. Whoever still wishes for it says so again.
    pub(crate) fn failed(&mut self, error: &HttpError, now: Instant, random: &mut fastrand::Rng) {
        let factor = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let delay = self.min_delay.saturating_mul(factor).min(self.max_delay);
        // Clients must not all return at once.
        let mut delay = delay + delay.mul_f64(random.f64() / 2.0);
        self.is_limited = matches!(error, HttpError::Limited { .. });
        if let HttpError::Limited { wait, .. } = error {
            delay = delay.max((*wait).min(MAX_PAUSE));
        }
        self.failures = self.failures.saturating_add(1);
        (self.began, self.not_before) = (None, Some(now + delay));
    }

    /// Begins none before then.
    pub(crate) fn pause(&mut self, until: Instant) {
        self.not_before = Some(until);
    }

    /// Ends the delay, as the server answers again; unless it has told us to wait.
    pub(crate) fn retry(&mut self) {
        if !self.is_limited {
            (self.failures, self.not_before) = (0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn lookup() -> (Lookup, fastrand::Rng, Instant) {
        (Lookup::new(2 * SECOND, 60 * SECOND), fastrand::Rng::with_seed(7), Instant::now())
    }

    #[test]
    fn wishes_during_a_lookup_are_merged_into_the_next() {
        let (mut lookup, _, now) = lookup();
        assert!(lookup.due().is_none() && !lookup.begin(now));
        lookup.want(now + SECOND);
        lookup.want(now);
        assert!(lookup.begin(now) && !lookup.begin(now));
        lookup.want(now);
        lookup.want(now);
        assert!(lookup.due().is_none() && !lookup.begin(now) && lookup.is_running());
        lookup.succeeded();
        assert!(lookup.begin(now));
        lookup.succeeded();
        assert!(lookup.due().is_none());
    }

    #[test]
    fn failures_in_a_row_are_further_and_further_apart() {
        let (mut lookup, mut random, start) = lookup();
        let mut now = start;
        let mut began = Vec::new();
        while now < start + 3 * 3600 * SECOND {
            lookup.want(now);
            now = lookup.due().unwrap();
            assert!(lookup.begin(now));
            began.push((now - start).as_secs());
            lookup.failed(&HttpError::Server(502), now, &mut random);
        }
        assert!(began.len() < 200 && began[5] >= 2 + 4 + 8 + 16 + 32, "{began:?}");
        lookup.want(now);
        lookup.retry();
        assert_eq!(lookup.due(), Some(now));
    }

    #[test]
    fn a_wait_that_the_server_tells_is_kept() {
        let (mut lookup, mut random, now) = lookup();
        lookup.want(now);
        assert!(lookup.begin(now));
        let limited = HttpError::Limited { what: "x".into(), wait: 90 * SECOND, is_told: true };
        lookup.failed(&limited, now, &mut random);
        lookup.want(now);
        lookup.retry();
        assert_eq!(lookup.due(), Some(now + 90 * SECOND));
    }
}

//! Back-off that all requests of one kind share. A state machine without I/O.

use std::time::{Duration, Instant};

use crate::backoff::{Backoff, Reconnect, max_in_game};

/// Delays of one kind of request, however many games send it.
///
/// While attempts fail, one at a time probes the server, and its caller lets the others wait for the outcome. The first
/// success releases them all. So the number of attempts during an outage does not depend on the number of games: the
/// delay between two of them grows up to `max_delay`, and is at most 2 s or a sixteenth of our time left while a game
/// with a running clock waits. A delay that the server has told may stand nevertheless, see [`Limit`].
#[derive(Debug)]
pub(crate) struct SharedBackoff {
    delays: Backoff,
    failure: Option<Failure>,
    /// First success after the last failure.
    recovered: Option<Instant>,
}

/// The latest failure, unless a success followed.
#[derive(Copy, Clone, Debug)]
struct Failure {
    at: Instant,
    /// The next attempt.
    due: Instant,
    /// It was a 429.
    limit: Option<Limit>,
}

/// Delay after a 429, and what the clocks of games do to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// No game shortens it.
    Fixed,
    /// The server has told it: it stands if it is a small part of our clock.
    Told,
    /// The server has not told any: each game shortens it.
    Guessed,
}

/// A delay that the server has told stands if it is at most this part of our clock.
const MAX_PART: u32 = 4;

/// Returns whether a delay that the server has told is a small part of our time left. `Duration::MAX`: that is not known
/// yet, and may be short.
pub(crate) fn is_small(delay: Duration, time_left: Duration) -> bool {
    time_left != Duration::MAX && delay <= time_left / MAX_PART
}

impl SharedBackoff {
    /// Creates the back-off of a kind whose attempts have not failed.
    pub(crate) fn new(reconnect: &Reconnect) -> SharedBackoff {
        SharedBackoff { delays: Backoff::new(reconnect), failure: None, recovered: None }
    }

    /// Returns whether the latest attempt failed, so that one at a time is made.
    pub(crate) fn is_failing(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns when the next attempt is due, where a game that needs it leaves us this much time. `None`: at once.
    pub(crate) fn due(&self, time_left: Option<Duration>) -> Option<Instant> {
        let failure = self.failure?;
        // The game may have begun after the failure, and its clock be known only now.
        let is_shortened = |left: &Duration| match failure.limit {
            Some(Limit::Fixed) => false,
            Some(Limit::Told) => !is_small(failure.due - failure.at, *left),
            Some(Limit::Guessed) | None => true,
        };
        match time_left.filter(is_shortened) {
            Some(left) => Some(failure.due.min(failure.at + max_in_game(left))),
            None => Some(failure.due),
        }
    }

    /// Notes a success. Returns whether attempts failed before.
    pub(crate) fn succeeded(&mut self, now: Instant) -> bool {
        let has_failed = self.failure.take().is_some();
        if has_failed {
            self.recovered = Some(now);
        }
        has_failed
    }

    /// Notes a failure; of several attempts under way at the same time, that of the first or of the probe.
    pub(crate) fn failed(&mut self, now: Instant, time_left: Option<Duration>) {
        if let Some(recovered) = self.recovered.take() {
            self.delays.lasted(now.saturating_duration_since(recovered));
        }
        let due = now + self.delays.next(time_left);
        self.failure = Some(Failure { at: now, due, limit: None });
    }

    /// Notes that the server takes no such request for a while. A longer wait that was told before stands.
    pub(crate) fn limited(&mut self, now: Instant, wait: Duration, limit: Limit) {
        let before = self.failure.filter(|failure| failure.limit.is_some()).map(|failure| failure.due);
        let due = before.map_or(now + wait, |before| before.max(now + wait));
        self.failure = Some(Failure { at: now, due, limit: Some(limit) });
    }

    /// The server is back, as another kind of request shows: the next attempt is due now, unless the server limits
    /// it.
    pub(crate) fn hurry(&mut self, now: Instant) {
        if let Some(failure) = self.failure.as_mut().filter(|failure| failure.limit.is_none()) {
            failure.due = failure.due.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const RECONNECT: Reconnect = Reconnect {
        min_delay: SECOND,
        max_delay: Duration::from_secs(16),
        stable_after: Duration::from_secs(10),
    };

    fn backoff() -> SharedBackoff {
        SharedBackoff::new(&RECONNECT)
    }

    /// Lets an attempt fail, and returns the delay before the next one.
    fn fail(backoff: &mut SharedBackoff, now: Instant) -> Duration {
        backoff.failed(now, None);
        backoff.due(None).unwrap() - now
    }

    #[test]
    fn delays_grow_until_a_success_that_lasts() {
        let mut backoff = backoff();
        let now = Instant::now();
        assert!(!backoff.is_failing() && backoff.due(None).is_none());
        for minimum in [1, 2, 4, 8, 8].map(|times| times * SECOND) {
            let delay = fail(&mut backoff, now);
            assert!((minimum..=2 * minimum).contains(&delay), "{delay:?} for {minimum:?}");
        }
        assert!(backoff.succeeded(now) && !backoff.succeeded(now) && !backoff.is_failing());
        assert!(fail(&mut backoff, now + 9 * SECOND) >= 8 * SECOND, "the success was short");
        backoff.succeeded(now);
        assert!(fail(&mut backoff, now + 10 * SECOND) <= 2 * SECOND);
    }

    #[test]
    fn a_game_that_begins_after_the_failure_shortens_the_delay() {
        let mut backoff = backoff();
        let now = Instant::now();
        for _ in 0..5 {
            fail(&mut backoff, now);
        }
        for (left, delay) in [(600 * SECOND, 2 * SECOND), (16 * SECOND, SECOND), (SECOND / 100, SECOND / 10)]
        {
            assert_eq!(backoff.due(Some(left)), Some(now + delay));
        }
        assert!(backoff.due(None) >= Some(now + 8 * SECOND));
    }

    #[test]
    fn what_the_server_tells_is_kept_whatever_comes_after() {
        let mut backoff = backoff();
        let now = Instant::now();
        fail(&mut backoff, now);
        backoff.limited(now, 60 * SECOND, Limit::Fixed);
        backoff.limited(now + SECOND, 10 * SECOND, Limit::Fixed);
        backoff.hurry(now + SECOND);
        assert_eq!(backoff.due(Some(SECOND)), Some(now + 60 * SECOND));
        assert!(backoff.succeeded(now + 60 * SECOND));
        backoff.limited(now + 60 * SECOND, SECOND, Limit::Fixed);
        assert_eq!(backoff.due(None), Some(now + 61 * SECOND), "the earlier wait is over");
    }

    #[test]
    fn a_server_that_is_back_is_asked_at_once_by_one_attempt() {
        let mut backoff = backoff();
        let now = Instant::now();
        for _ in 0..5 {
            fail(&mut backoff, now);
        }
        backoff.hurry(now + SECOND);
        assert_eq!(backoff.due(None), Some(now + SECOND));
        assert!(backoff.is_failing());
    }

    #[test]
    fn clocks_that_are_known_later_shorten_what_the_server_tells() {
        let mut backoff = backoff();
        let now = Instant::now();
        backoff.limited(now, 600 * SECOND, Limit::Told);
        assert_eq!(backoff.due(None), Some(now + 600 * SECOND));
        let unknown = Duration::MAX;
        for (left, delay) in [(unknown, 2), (60 * SECOND, 2), (2399 * SECOND, 2), (2400 * SECOND, 600)] {
            assert_eq!(backoff.due(Some(left)), Some(now + delay * SECOND), "{left:?}");
        }
        backoff.succeeded(now);
        backoff.limited(now, 10 * SECOND, Limit::Guessed);
        backoff.hurry(now);
        assert_eq!(
            [None, Some(3600 * SECOND)].map(|left| backoff.due(left).unwrap() - now),
            [10, 2].map(|s| s * SECOND)
        );
    }
}

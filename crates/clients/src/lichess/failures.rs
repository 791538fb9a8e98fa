//! Failures of an account in the log. Its outage is that of its event stream, as the session loop reports it; what else
//! fails meanwhile has the same cause, and is no news.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use zeitnot_net::OutageNews;

/// Failures so soon after one that was reported have the same cause.
const SAME_CAUSE: Duration = Duration::from_secs(10);

/// Whether the event stream is lost, and what was reported last.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_lost: bool,
    reported: Option<Instant>,
}

impl State {
    fn is_recent(&self, now: Instant) -> bool {
        self.reported.is_some_and(|reported| now.saturating_duration_since(reported) < SAME_CAUSE)
    }
}

impl Failures {
    /// Returns whether the failure of a request, or of a game's stream, may be news.
    pub(crate) fn are_news(&self, now: Instant) -> bool {
        let state = self.state();
        !state.is_lost && !state.is_recent(now)
    }

    /// Notes that such a failure was reported.
    pub(crate) fn reported(&self, now: Instant) {
        self.state().reported = Some(now);
    }

    /// Notes that the event stream is lost, or not open again. Returns what is to be reported of that.
    pub(crate) fn events_lost(&self, news: Option<OutageNews>, now: Instant) -> Option<OutageNews> {
        let state = &mut *self.state();
        state.is_lost = true;
        let was_told = news == Some(OutageNews::Begins) && state.is_recent(now);
        let news = news.filter(|_| !was_told);
        if news.is_some() {
            state.reported = Some(now);
        }
        news
    }

    /// Notes that the event stream is open.
    pub(crate) fn events_opened(&self) {
        self.state().is_lost = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_all_streams_notice_is_told_once() {
        let (failures, now) = (Failures::default(), Instant::now());
        let begins = Some(OutageNews::Begins);
        assert!(failures.are_news(now));
        failures.reported(now);
        // A game's stream has told it.
        assert_eq!(failures.events_lost(begins, now + SECOND), None);
        assert!(!failures.are_news(now + 30 * SECOND));
        let lasts = Some(OutageNews::Lasts(60 * SECOND));
        assert_eq!(failures.events_lost(lasts, now + 60 * SECOND), lasts);
        failures.events_opened();
        assert!(!failures.are_news(now + 61 * SECOND) && failures.are_news(now + 70 * SECOND));
        assert_eq!(failures.events_lost(begins, now + 71 * SECOND), begins);
    }
}

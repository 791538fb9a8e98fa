//! Failures of an account in the log. Its outage is that of its event stream, as the session loop reports it; what else
//! fails meanwhile has the same cause, and is not reported.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use zeitnot_net::OutageNews;

/// Failures so soon after one that was reported have the same cause.
const SAME_CAUSE: Duration = Duration::from_secs(10);
/// So do failures so soon after one of the event stream. Its attempts are not further apart, unless the server limits
/// them: then the session loop is silent for minutes, in which games may fail for another reason.
const SAME_OUTAGE: Duration = Duration::from_secs(90);

/// When the event stream failed last, and when a failure was reported last.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Last failure of the event stream, unless it is open again.
    lost: Option<Instant>,
    reported: Option<Instant>,
}

impl State {
    fn is_recent(&self, now: Instant) -> bool {
        is_within(SAME_CAUSE, self.reported, now)
    }

    fn is_lost(&self, now: Instant) -> bool {
        is_within(SAME_OUTAGE, self.lost, now)
    }
}

fn is_within(span: Duration, since: Option<Instant>, now: Instant) -> bool {
    since.is_some_and(|since| now.saturating_duration_since(since) < span)
}

impl Failures {
    /// Returns whether the failure of a request, or of a game's stream, may be news.
    pub(crate) fn are_news(&self, now: Instant) -> bool {
        let state = self.state();
        !state.is_lost(now) && !state.is_recent(now)
    }

    /// Notes that such a failure was reported.
    pub(crate) fn reported(&self, now: Instant) {
        self.state().reported = Some(now);
    }

    /// Notes that the event stream is lost, or not open again. Returns what is to be reported of that.
    pub(crate) fn events_lost(&self, news: Option<OutageNews>, now: Instant) -> Option<OutageNews> {
        let state = &mut *self.state();
        state.lost = Some(now);
        let was_told = news == Some(OutageNews::Begins) && state.is_recent(now);
        let news = news.filter(|_| !was_told);
        if news.is_some() {
            state.reported = Some(now);
        }
        news
    }

    /// Notes that the event stream is open.
    pub(crate) fn events_opened(&self) {
        self.state().lost = None;
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
        let failures = Failures::default();
        let now = Instant::now();
        let begins = Some(OutageNews::Begins);
        assert!(failures.are_news(now));
        failures.reported(now);
        // A game's stream has told it.
        assert_eq!(failures.events_lost(begins, now + SECOND), None);
        assert!(!failures.are_news(now + 30 * SECOND));
        let lasts = Some(OutageNews::Lasts(60 * SECOND));
        assert_eq!(failures.events_lost(lasts, now + 60 * SECOND), lasts);
        // The stream waits for the end of a limit, and says nothing.
        assert!(!failures.are_news(now + 149 * SECOND) && failures.are_news(now + 151 * SECOND));
        failures.events_opened();
        assert!(!failures.are_news(now + 61 * SECOND) && failures.are_news(now + 70 * SECOND));
        assert_eq!(failures.events_lost(begins, now + 71 * SECOND), begins);
    }
}

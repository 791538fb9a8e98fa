//! Log of the connections to one server: of an outage a line at its start, one a minute, and one at its end; of a
//! connection that is lost again and again a line a minute.

use std::{
    fmt,
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};
use zeitnot_net::{Outage, OutageNews};

use crate::wait::now;

/// Target of the events that say that a connection is open, for the first time or again.
pub const CONNECTED: &str = "zeitnot_clients::connected";

/// Target of the events that say that a connection is lost, or could not be opened.
pub const LOST: &str = "zeitnot_clients::lost";

/// A connection that is lost so soon after the last loss flaps.
const FLAPPING: Duration = Duration::from_secs(120);
/// Time between two lines about a connection that flaps.
const PERIOD: Duration = Duration::from_secs(60);
/// Errors of a connection that flaps which are reported at once, as they are new.
const MAX_ERRORS: usize = 4;
/// Failures so soon after a failed request that was reported have the same cause.
const SAME_CAUSE: Duration = Duration::from_secs(10);
/// So do failures of requests so soon after one of the connection. Its attempts are not further apart, unless the server
/// limits them: then requests may fail for another reason.
const SAME_OUTAGE: Duration = Duration::from_secs(90);

/// The connections of a session one after the other, or the event stream of an account and the requests beside it.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLog {
    outage: Outage,
    /// Last failure, unless the connection is open again.
    failed: Option<Instant>,
    /// Last loss of an open connection.
    lost: Option<Instant>,
    /// Errors since it flaps that were reported at once.
    errors: Vec<String>,
    /// Losses since the last line that no line has told.
    untold: u32,
    /// Last line.
    told: Option<Instant>,
    /// Last failure of a request that was reported.
    request: Option<Instant>,
}

/// News about a connection that is open.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum BackNews {
    /// It is open again after so long.
    Back(Duration),
    /// It was lost so often within this time.
    Flaps(u32, Duration),
}

impl ConnectionLog {
    /// Notes that a connection is open.
    pub(crate) fn connected(&mut self) {
        debug!(target: CONNECTED, "connected");
        match self.note_open(now()) {
            Some(BackNews::Back(lasted)) => info!("connected again after {}", in_words(lasted)),
            Some(BackNews::Flaps(times, span)) => {
                info!("connected again; lost {times} times within {}", in_words(span));
            }
            None => {}
        }
    }

    /// Notes a connection that was lost or could not be opened, and the delay before the next attempt.
    pub(crate) fn failed(&mut self, error: &impl fmt::Display, delay: Duration) {
        let news = self.note_failure(&error.to_string(), now());
        let delay = delay.as_secs_f64();
        match news {
            Some(OutageNews::Begins) => warn!(target: LOST, "{error}; reconnecting in {delay:.1} s"),
            Some(OutageNews::Lasts(lasted)) => {
                let lasted = in_words(lasted);
                warn!(target: LOST, "{error}; trying for {lasted} now; reconnecting in {delay:.1} s");
            }
            Some(OutageNews::Ends(_)) | None => {
                debug!(target: LOST, "{error}; reconnecting in {delay:.1} s");
            }
        }
    }

    /// Notes a connection that served its purpose: a failure of the next one is not part of an earlier outage.
    pub(crate) fn completed(&mut self) {
        self.lost = None;
    }

    /// Returns whether the failure of a request beside the connection may be news.
    pub(crate) fn is_request_news(&self, now: Instant) -> bool {
        !is_within(SAME_OUTAGE, self.failed, now) && !is_within(SAME_CAUSE, self.told.max(self.request), now)
    }

    /// Notes that such a failure was reported.
    pub(crate) fn request_reported(&mut self, now: Instant) {
        self.request = Some(now);
    }

    fn note_open(&mut self, now: Instant) -> Option<BackNews> {
        self.failed = None;
        let Some(OutageNews::Ends(lasted)) = self.outage.ended(now) else { return None };
        let span = self.told.map_or(Duration::MAX, |told| now.saturating_duration_since(told));
        let news = match self.untold {
            0 => BackNews::Back(lasted),
            _ if span < PERIOD => return None,
            times => BackNews::Flaps(times, span),
        };
        self.told(now);
        Some(news)
    }

    fn note_failure(&mut self, error: &str, now: Instant) -> Option<OutageNews> {
        self.failed = Some(now);
        let news = match self.outage.failed(now) {
            Some(OutageNews::Begins) if self.is_known(error, now) => return None,
            // The loss was not news, but the server is gone.
            None if self.untold > 0 && self.is_new(error) => OutageNews::Begins,
            news => news?,
        };
        self.told(now);
        Some(news)
    }

    /// Notes the loss of an open connection. Returns whether another line has told it, or will.
    fn is_known(&mut self, error: &str, now: Instant) -> bool {
        let flaps = is_within(FLAPPING, self.lost.replace(now), now);
        if !flaps {
            self.errors.clear();
        }
        if !self.is_new(error) {
            self.untold += 1;
            return true;
        }
        is_within(SAME_CAUSE, self.request, now)
    }

    /// Notes an error since it flaps. Returns whether it is reported at once.
    fn is_new(&mut self, error: &str) -> bool {
        let is_new = !self.errors.iter().any(|known| known == error) && self.errors.len() < MAX_ERRORS;
        if is_new {
            self.errors.push(error.to_owned());
        }
        is_new
    }

    fn told(&mut self, now: Instant) {
        (self.told, self.untold) = (Some(now), 0);
    }
}

fn is_within(span: Duration, since: Option<Instant>, now: Instant) -> bool {
    since.is_some_and(|since| now.saturating_duration_since(since) < span)
}

/// Formats the length of an outage.
fn in_words(length: Duration) -> String {
    match length.as_secs() {
        0..10 => format!("{:.1} s", length.as_secs_f64()),
        seconds => humantime::format_duration(Duration::from_secs(seconds)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{OutageNews::*, *};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_outage_is_news_at_its_start_once_a_minute_and_at_its_end() {
        let mut log = ConnectionLog::default();
        let start = Instant::now();
        assert_eq!(log.note_open(start), None);
        let lines: Vec<_> =
            (0..150).filter_map(|second| log.note_failure("gone", start + second * SECOND)).collect();
        assert_eq!(lines, [Begins, Lasts(60 * SECOND), Lasts(120 * SECOND)]);
        assert_eq!(log.note_open(start + 150 * SECOND), Some(BackNews::Back(150 * SECOND)));
    }

    #[test]
    fn a_connection_that_flaps_is_a_line_a_minute() {
        let mut log = ConnectionLog::default();
        let start = Instant::now();
        let mut lines = Vec::new();
        for second in (0..3600).step_by(15) {
            let lost = start + second * SECOND;
            let error = if second % 30 == 0 { "reset" } else { "closed" };
            lines.extend(log.note_failure(error, lost).map(|_| BackNews::Back(Duration::ZERO)));
            lines.extend(log.note_open(lost + 3 * SECOND));
        }
        // Each of the two errors has a line of its own, and so has its end.
        let later = &lines[4..];
        assert!((50..=60).contains(&later.len()), "{lines:?}");
        let is_summary = |news: &BackNews| matches!(news, BackNews::Flaps(4.., span) if *span >= PERIOD);
        assert!(later.iter().all(is_summary), "{lines:?}");
        // An outage amid all that is reported.
        let lost = start + 3600 * SECOND;
        assert_eq!(log.note_failure("reset", lost), None);
        assert_eq!(log.note_failure("reset", lost + PERIOD), Some(Lasts(PERIOD)));
        assert_eq!(log.note_open(lost + 2 * PERIOD), Some(BackNews::Back(2 * PERIOD)));
        // Later it is news again.
        assert_eq!(log.note_failure("reset", lost + 6 * PERIOD), Some(Begins));
    }

    #[test]
    fn a_server_that_is_gone_after_a_loss_that_was_no_news_is_news() {
        let mut log = ConnectionLog::default();
        let now = Instant::now();
        assert_eq!(log.note_failure("closed", now), Some(Begins));
        assert_eq!(log.note_failure("refused", now + SECOND), None);
        assert_eq!(log.note_open(now + 2 * SECOND), Some(BackNews::Back(2 * SECOND)));
        assert_eq!(log.note_failure("closed", now + 30 * SECOND), None);
        assert_eq!(log.note_failure("refused", now + 31 * SECOND), Some(Begins));
        assert_eq!(log.note_failure("refused", now + 33 * SECOND), None);
        assert_eq!(log.note_open(now + 40 * SECOND), Some(BackNews::Back(10 * SECOND)));
    }

    #[test]
    fn another_error_and_one_after_a_connection_that_served_its_purpose_are_news() {
        let mut log = ConnectionLog::default();
        let now = Instant::now();
        for error in ["reset", "refused"] {
            assert_eq!(log.note_failure(error, now), Some(Begins));
            log.note_open(now);
        }
        log.completed();
        assert_eq!(log.note_failure("refused", now), Some(Begins));
    }

    #[test]
    fn what_all_streams_of_an_account_notice_is_told_once() {
        let mut log = ConnectionLog::default();
        let now = Instant::now();
        assert!(log.is_request_news(now));
        log.request_reported(now);
        assert!(!log.is_request_news(now + SECOND));
        // A game's stream has told it.
        assert_eq!(log.note_failure("gone", now + SECOND), None);
        assert!(!log.is_request_news(now + 30 * SECOND));
        assert_eq!(log.note_failure("gone", now + 61 * SECOND), Some(Lasts(60 * SECOND)));
        // The stream waits for the end of a limit, and says nothing.
        assert!(!log.is_request_news(now + 150 * SECOND) && log.is_request_news(now + 152 * SECOND));
        assert_eq!(log.note_open(now + 160 * SECOND), Some(BackNews::Back(159 * SECOND)));
        assert!(!log.is_request_news(now + 165 * SECOND) && log.is_request_news(now + 170 * SECOND));
    }
}

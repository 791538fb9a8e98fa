//! Pauses of a client between its attempts to connect, in paused time.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_testing::as_time_passes;

/// Longest pause while a game of ours runs.
const LONG: Duration = Duration::from_secs(2);
/// Paused time that passes while the system makes a connection.
const CONNECTING: Duration = Duration::from_millis(200);

/// Pauses, with the time at which each began.
#[derive(Debug)]
pub struct Pauses(Vec<(Duration, Duration)>);

impl Pauses {
    /// Measures the pauses between these attempts, up to a long one.
    pub async fn until_one_is_long(attempt: impl AsyncFn()) -> Pauses {
        let lost = Instant::now();
        let mut pauses = Vec::new();
        while pauses.last().is_none_or(|(_, pause)| *pause <= LONG) {
            let began = lost.elapsed();
            let began_at = Instant::now();
            as_time_passes(attempt()).await;
            pauses.push((began, began_at.elapsed()));
        }
        Pauses(pauses)
    }

    /// Expects that those that began well within `time` were no longer than `max`, and that the long one came soon
    /// after.
    #[track_caller]
    pub fn are_short_for(&self, time: Duration, max: Duration) {
        let (during, after): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|(began, _)| *began + CONNECTING < time);
        let max = max + CONNECTING;
        assert!(!during.is_empty() && during.iter().all(|(_, pause)| *pause <= max), "{self:?}");
        assert!(after.len() < 8, "{self:?}");
    }
}

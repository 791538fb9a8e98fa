//! Limits that hold back the owner's challenges.

use std::time::Duration;

use zeitnot_wire::lichess::UserId;

/// No limit of the server is longer than a week.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(7 * 86_400);

/// Reason why the owner's challenge is not sent now.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NotNow {
    #[error("the challenge to {0} is still open: wait for the answer")]
    Open(UserId),
    #[error("a series of games against {0} is being played: wait for its end, or block the player")]
    Series(UserId),
    #[error("the server has not replied to our last challenge yet: try again later")]
    NoReply,
    #[error(
        "{max} challenges a day are sent at most (`max_challenges_per_day`): the next one in {}",
        time(wait)
    )]
    Daily { max: usize, wait: Duration },
    #[error("the server limits our challenges: the next one in {}", time(.0))]
    Limited(Duration),
}

impl NotNow {
    /// Returns how long a limit lasts.
    pub(super) fn wait(&self) -> Option<Duration> {
        match self {
            NotNow::Daily { wait, .. } | NotNow::Limited(wait) => Some(*wait),
            NotNow::Open(_) | NotNow::Series(_) | NotNow::NoReply => None,
        }
    }
}

/// Formats a wait in whole seconds.
pub(super) fn time(wait: &Duration) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(wait.min(&MAX_WAIT).as_secs() + 1))
}

//! Default durations of the configuration.

use std::time::Duration;

/// For `#[serde(default = "seconds::<N>")]`.
pub(crate) fn seconds<const N: u64>() -> Duration {
    Duration::from_secs(N)
}

/// Longest wait that can be configured: safe to add to an instant.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

//! Default durations of the configuration.

use std::time::Duration;

/// For `#[serde(default = "seconds::<N>")]`.
pub(crate) fn seconds<const N: u64>() -> Duration {
    Duration::from_secs(N)
}

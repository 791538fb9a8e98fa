//! Timers that may never fire.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

/// Sleeps until an instant; `None`: for ever.
pub async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

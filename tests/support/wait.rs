//! Waiting that ends, also where what is waited for never comes.

use std::{pin::pin, thread::sleep, time::Duration};

use futures_util::FutureExt;
use tokio::time::{Instant, advance, timeout};

/// Nothing in the tests takes this long on a busy machine, unless it never comes.
pub const LONG: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);
/// Real time that passes meanwhile where the clock is paused, for the system and other threads.
const MOMENT: Duration = Duration::from_micros(250);

/// The value of a future that is done in time.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// Waits while the clock is paused, and advances it in small steps: it neither stands still while an arena reads at a
/// bounded pace, nor leaps to the next timer while the system delivers bytes.
pub async fn as_time_passes<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Some(output) = future.as_mut().now_or_never() {
            return output;
        }
        sleep(MOMENT);
        advance(LOOK).await;
    }
}

/// Waits until a condition holds.
pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let end = Instant::now() + LONG;
    while !holds().await {
        assert!(Instant::now() < end, "waited in vain: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits on this thread until there is a value.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = std::time::Instant::now() + LONG;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(std::time::Instant::now() < end, "waited in vain: {what}");
        sleep(LOOK);
    }
}

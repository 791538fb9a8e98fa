//! Waiting. The test's time limit ends what would never end, and reports what was waited for.

use std::{pin::pin, thread::sleep, time::Duration};

use futures_util::FutureExt;
use tokio::time::advance;

use crate::watchdog::waits_for;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);
/// Real time that passes meanwhile where the clock is paused, for the system and other threads.
const MOMENT: Duration = Duration::from_micros(250);

/// The value of a future that is done before the test's time limit.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let _waiting = waits_for(what);
    future.await
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
    let _waiting = waits_for(what);
    while !holds().await {
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits on this thread until there is a value.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let _waiting = waits_for(what);
    loop {
        if let Some(found) = found() {
            return found;
        }
        sleep(LOOK);
    }
}

//! Waiting for what there may not be, in a `select!`.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

/// Waits for the future, forever if there is none.
pub async fn or_never<F: Future>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

/// Sleeps until then, forever without such a moment.
pub async fn until(moment: Option<impl Into<Instant>>) {
    or_never(moment.map(|moment| sleep_until(moment.into()))).await
}

/// Returns the present moment of the clock that timers follow, which tests may pause.
pub fn now() -> std::time::Instant {
    Instant::now().into_std()
}

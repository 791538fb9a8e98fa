//! Heartbeat of the network thread: it shows to others that the thread still runs its tasks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::time::sleep;

/// Interval between two beats.
const INTERVAL: Duration = Duration::from_millis(250);

/// Moment of the last beat. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Heartbeat {
    started: Instant,
    /// Milliseconds since then.
    last: Arc<AtomicU64>,
}

impl Heartbeat {
    pub(super) fn new() -> Heartbeat {
        Heartbeat { started: Instant::now(), last: Arc::default() }
    }

    /// Beats for as long as the runtime runs it.
    pub(super) async fn run(self) {
        loop {
            self.beat();
            sleep(INTERVAL).await;
        }
    }

    fn beat(&self) {
        self.last.store(self.elapsed(), Relaxed);
    }

    /// Returns how long ago the last beat was.
    pub(super) fn age(&self) -> Duration {
        Duration::from_millis(self.elapsed().saturating_sub(self.last.load(Relaxed)))
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::{future, thread};

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_blocked_thread_has_no_heartbeat() {
        let heartbeat = Heartbeat::new();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            tokio::spawn(heartbeat.clone().run());
            tokio::task::yield_now().await;
            thread::sleep(2 * INTERVAL);
            assert!(heartbeat.age() >= INTERVAL);
            // It beats again as soon as the thread runs its tasks.
            tokio::time::timeout(4 * INTERVAL, future::pending::<()>()).await.unwrap_err();
            assert!(heartbeat.age() < 2 * INTERVAL);
        });
    }
}

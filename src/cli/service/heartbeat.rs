//! Signs of life of the network thread: it shows to others that it still runs its tasks, whenever they ask. Nobody wakes
//! it if nobody asks.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// Questions to the network thread, and its answers. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Heartbeat(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    asked: Notify,
    /// Since when an answer is awaited.
    since: Mutex<Option<Instant>>,
}

impl Heartbeat {
    /// Answers for as long as the runtime runs it.
    pub(super) async fn run(self) {
        loop {
            self.0.asked.notified().await;
            self.since(|since| *since = None);
        }
    }

    /// Asks for a sign of life, and returns for how long the last one has been awaited; zero: it has come.
    pub(super) fn silence(&self) -> Duration {
        let silence = self.since(|since| since.get_or_insert_with(Instant::now).elapsed());
        self.0.asked.notify_one();
        silence
    }

    fn since<T>(&self, act: impl FnOnce(&mut Option<Instant>) -> T) -> T {
        act(&mut self.0.since.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tokio::{runtime::Builder, task::yield_now};

    use super::*;

    const HANG: Duration = Duration::from_millis(50);

    #[test]
    fn a_blocked_thread_gives_no_sign_of_life() {
        let heartbeat = Heartbeat::default();
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            tokio::spawn(heartbeat.clone().run());
            yield_now().await;
            heartbeat.silence();
            thread::sleep(HANG);
            assert!(heartbeat.silence() >= HANG);
            // As soon as the thread runs its tasks again, the next question is a new one.
            yield_now().await;
            assert!(heartbeat.silence() < HANG);
        });
    }
}

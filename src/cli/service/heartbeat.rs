//! Signs of life of the network thread: it shows to others that it still runs its tasks, whenever they ask, and notices
//! when all of the program has stood still.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{select, sync::Notify, time::sleep_until};
use tracing::warn;

/// Interval at which a standstill is looked for.
const INTERVAL: Duration = Duration::from_secs(1);
/// Lateness of the timer that is reported. A busy machine is not as late as that.
const STANDSTILL: Duration = Duration::from_secs(3);

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
    /// Answers for as long as the runtime runs it, and reports a standstill. The clocks of games are those of this timer,
    /// so its lateness tells how much they lost.
    pub(super) async fn run(self) {
        let mut due = Instant::now() + INTERVAL;
        loop {
            select! {
                () = self.0.asked.notified() => self.since(|since| *since = None),
                () = sleep_until(due.into()) => {
                    report_standstill(due.elapsed());
                    due = Instant::now() + INTERVAL;
                }
            }
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

fn report_standstill(late: Duration) {
    if late >= STANDSTILL {
        let seconds = late.as_secs_f64();
        warn!(
            "this program stood still for {seconds:.1} s, as it or its machine was stopped; the clocks of its games ran on"
        );
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
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
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

//! Tells a search that hangs from one that waits for a core.
//!
//! On a busy machine a stopped search may get no core for seconds, and so cannot see that it was stopped. So the CPU
//! time of its thread counts. One that sleeps uses none, and not every system tells it: hence the limit on wall time.

#[cfg(test)]
use std::sync::Mutex;
use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::limits::StopFlag;

/// CPU time that a stopped search may use before it counts as hung.
const CPU_GRACE: Duration = Duration::from_millis(500);
/// Time after which it counts as hung in any case.
pub(super) const WALL_LIMIT: Duration = Duration::from_secs(5);

/// Clocks of search threads; those of the system, or of a test.
pub(super) trait Clocks: Send + Sync {
    fn now(&self) -> Instant;

    /// CPU time that a thread has used so far, if the system tells it.
    fn cpu_time(&self, thread: &ThreadId) -> Option<Duration>;
}

/// A thread, as the system names it; `None` where it does not.
#[derive(Clone, Debug)]
pub(super) struct ThreadId(Option<PathBuf>);

impl ThreadId {
    /// This thread.
    pub(super) fn current() -> ThreadId {
        // On Linux a link to `PID/task/TID`.
        let thread = fs::read_link("/proc/thread-self").ok();
        ThreadId(thread.map(|thread| PathBuf::from("/proc").join(thread)))
    }
}

pub(super) struct SystemClocks;

impl Clocks for SystemClocks {
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// The first number of `/proc/PID/task/TID/schedstat`, in nanoseconds.
    fn cpu_time(&self, thread: &ThreadId) -> Option<Duration> {
        let text = fs::read_to_string(thread.0.as_ref()?.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

/// A search that runs.
#[derive(Clone)]
pub(super) struct Running {
    pub stop: Arc<StopFlag>,
    pub thread: ThreadId,
    pub began_at: Instant,
    /// CPU time of the thread when the search began.
    pub cpu_at_start: Option<Duration>,
}

impl Running {
    /// Returns whether it was stopped long ago.
    pub(super) fn is_hung(&self, clocks: &dyn Clocks) -> bool {
        let Some(stopped_at) = self.stop.raised_at() else { return false };
        let stopped_for = clocks.now().saturating_duration_since(stopped_at);
        if stopped_for <= CPU_GRACE || stopped_for > WALL_LIMIT {
            return stopped_for > WALL_LIMIT;
        }
        let used = clocks.cpu_time(&self.thread).zip(self.cpu_at_start);
        let used = used.map_or(Duration::ZERO, |(now, at_start)| now.saturating_sub(at_start));
        // Before the stop it can have used no more than the time that passed.
        used.saturating_sub(stopped_at.saturating_duration_since(self.began_at)) > CPU_GRACE
    }
}

/// Clocks that a test moves: time beyond that of the system, and CPU time of every thread.
#[cfg(test)]
#[derive(Default)]
pub(super) struct TestClocks {
    ahead: Mutex<Duration>,
    cpu: Mutex<Duration>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // helpers of tests are tests
impl TestClocks {
    pub(super) fn pass(&self, time: Duration) {
        *self.ahead.lock().unwrap() += time;
    }

    pub(super) fn work(&self, time: Duration) {
        *self.cpu.lock().unwrap() += time;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
impl Clocks for TestClocks {
    fn now(&self) -> Instant {
        Instant::now() + *self.ahead.lock().unwrap()
    }

    fn cpu_time(&self, _: &ThreadId) -> Option<Duration> {
        Some(*self.cpu.lock().unwrap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Whether a search hangs that ran for this long, was stopped so long ago, and used so much CPU time in all.
    fn is_hung(ran_for: Duration, stopped_for: Duration, used: Duration) -> bool {
        let clocks = TestClocks::default();
        let stop = Arc::<StopFlag>::default();
        stop.stop();
        let began_at = stop.raised_at().unwrap() - ran_for;
        let thread = ThreadId::current();
        let running = Running { stop, thread, began_at, cpu_at_start: Some(Duration::ZERO) };
        clocks.pass(stopped_for);
        clocks.work(used);
        running.is_hung(&clocks)
    }

    #[test]
    fn a_stopped_search_that_waits_for_a_core_does_not_hang() {
        assert!(!is_hung(ms(0), ms(3000), ms(0)), "a busy machine");
        assert!(!is_hung(ms(0), ms(3000), ms(400)), "it has hardly run");
        assert!(!is_hung(ms(60_000), ms(3000), ms(60_400)), "nor since the stop");
        assert!(is_hung(ms(60_000), ms(3000), ms(63_000)), "it runs on");
        assert!(is_hung(ms(0), WALL_LIMIT, ms(0)), "it sleeps");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_time_of_a_thread_that_works_grows() {
        let worker = ThreadId::current();
        let told = || SystemClocks.cpu_time(&worker).unwrap();
        let before = told();
        while told() < before + ms(20) {
            (0..10_000).for_each(|number| {
                std::hint::black_box(number);
            });
        }
    }
}

//! Virtual time for code that reads tokio's clock itself: it passes only when the simulation says so.

use std::time::Duration;

use tokio::{
    runtime::{Builder, EnterGuard, Runtime},
    time::{Instant, advance},
};

use super::run::Run;

#[derive(Debug)]
pub(crate) struct VirtualTime {
    runtime: Runtime,
    pub(crate) start: Instant,
}

impl VirtualTime {
    #[expect(clippy::expect_used, reason = "a runtime without I/O needs nothing of the system")]
    pub(crate) fn new() -> VirtualTime {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime without I/O");
        let start = {
            let _entered = runtime.enter();
            Instant::now()
        };
        VirtualTime { runtime, start }
    }

    /// Lets this thread read the virtual clock as long as the guard lives.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Lets time pass up to this time since the start, if it is not over yet; timers fire that are due then.
    pub(crate) fn advance_to(&self, at: Duration, run: &mut Run) {
        self.runtime.block_on(advance(at.saturating_sub(run.now)));
        run.now = run.now.max(at);
    }
}

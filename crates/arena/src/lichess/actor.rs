//! The task that owns the server's state: requests are jobs, which it runs one by one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use tokio::{
    select,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{server::LichessServer, storage::Changes};
use crate::jobs::{Handle, Jobs};

/// Interval of checks for what time alone does.
const SWEEP: Duration = Duration::from_millis(50);

pub(super) type ServerHandle = Handle<LichessServer>;

#[derive(Debug)]
pub(super) struct ServerActor {
    pub(super) server: LichessServer,
    pub(super) jobs: Jobs<LichessServer>,
    pub(super) changes: Changes,
    /// The state is kept, and not only the records of games.
    pub(super) has_state: bool,
}

impl ServerActor {
    /// Serves until `stop`. All streams end with it.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut sweep = interval(SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            select! {
                // Moves that have arrived are played before a flag falls.
                biased;
                () = stop.cancelled() => break,
                Some(job) = self.jobs.recv() => self.contain(job),
                _ = sweep.tick() => self.contain(|server| server.sweep(Instant::now())),
            }
            self.save();
        }
        let (now, has_state) = (Instant::now(), self.has_state);
        self.contain(|server| server.games.close_streams());
        if !has_state {
            self.contain(|server| server.games.break_off(now));
        }
        // An error means that the file's thread has failed, which it has logged.
        let _ = self.changes.send(self.server.changes(has_state, now)).await;
    }

    /// Hands over what has changed. While the file's thread is busy, the changes add up.
    fn save(&mut self) {
        let ServerActor { server, changes, has_state, .. } = self;
        if let Ok(permit) = changes.try_reserve() {
            let changed = catch_unwind(AssertUnwindSafe(|| server.changes(*has_state, Instant::now())));
            match changed {
                Ok(changed) if !changed.is_empty() => permit.send(changed),
                Ok(_) => {}
                Err(_) => tracing::error!("Lichess: a change could not be saved; please report it"),
            }
        }
    }

    /// Runs a job. If it panics, its caller gets no answer; the server goes on.
    fn contain(&mut self, job: impl FnOnce(&mut LichessServer)) {
        if catch_unwind(AssertUnwindSafe(|| job(&mut self.server))).is_err() {
            tracing::error!("Lichess: a request failed inside the server; please report it");
        }
    }
}

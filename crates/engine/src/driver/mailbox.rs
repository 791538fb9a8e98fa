//! Mailbox between a search thread and its owner: one job waits, and a later one replaces it.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use zeitnot_rules::Tactics;

use super::job::Job;
use crate::limits::StopFlag;

/// Time that a stopped thinker has before it counts as hung: on a busy machine it may have to wait for a core
/// before it can see the flag.
pub(super) const GRACE: Duration = Duration::from_millis(500);

pub(super) struct Mailbox<G: Tactics> {
    state: Mutex<State<G>>,
    changed: Condvar,
}

struct State<G: Tactics> {
    /// Whether there is a thread, or one is being started.
    has_thread: bool,
    waiting: Option<Job<G>>,
    /// Stops the job that runs.
    current: Option<Arc<StopFlag>>,
    owner: Owner,
}

/// Whether anybody still waits for the results of the thread.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    Waits,
    IsGone,
    /// The owner has a new thread, because this one hangs.
    AbandonedUs,
}

impl<G: Tactics> Mailbox<G> {
    /// Creates a mailbox whose thread is about to start.
    pub(super) fn new() -> Self {
        let state = State { has_thread: true, waiting: None, current: None, owner: Owner::Waits };
        Mailbox { state: Mutex::new(state), changed: Condvar::new() }
    }

    // Nothing that could panic runs under the lock, and no job is dropped under it: that calls an observer.
    fn lock(&self) -> MutexGuard<'_, State<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the current job and leaves the next one. Gives it back if there is no thread to take it.
    pub(super) fn put(&self, job: Job<G>) -> Option<Job<G>> {
        let mut state = self.lock();
        if !state.has_thread {
            return Some(job);
        }
        if let Some(current) = &state.current {
            current.stop();
        }
        let replaced = state.waiting.replace(job);
        self.changed.notify_one();
        drop(state);
        drop(replaced);
        None
    }

    /// Waits for the next job; `None` if there will be none.
    pub(super) fn take(&self) -> Option<Job<G>> {
        let mut state = self.lock();
        loop {
            if state.owner != Owner::Waits {
                return None;
            }
            if let Some(job) = state.waiting.take() {
                state.current = Some(job.stop.clone());
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks the current job as finished; returns whether anybody waits for it.
    pub(super) fn finish(&self) -> Owner {
        let mut state = self.lock();
        state.current = None;
        state.owner
    }

    /// Marks the thread as gone, and drops the job that waits for it.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.has_thread = false;
        state.current = None;
        let waiting = state.waiting.take();
        drop(state);
        drop(waiting);
    }

    /// Stops the current job and drops the waiting one; the thread ends after it.
    pub(super) fn close(&self, owner: Owner) {
        let mut state = self.lock();
        state.owner = owner;
        let waiting = state.waiting.take();
        if let Some(current) = &state.current {
            current.stop();
        }
        self.changed.notify_one();
        drop(state);
        drop(waiting);
    }

    /// Returns whether the thread still runs a job that was stopped long ago.
    pub(super) fn is_hung(&self) -> bool {
        let since = self.lock().current.as_ref().and_then(|stop| stop.raised_at());
        since.is_some_and(|since| since.elapsed() > GRACE)
    }

    #[cfg(test)]
    pub(super) fn is_busy(&self) -> bool {
        self.lock().current.is_some()
    }
}

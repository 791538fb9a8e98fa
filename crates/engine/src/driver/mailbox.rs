//! Mailbox between a search thread and its owner: one job waits, and a later one replaces it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use zeitnot_rules::Tactics;

use super::{
    hang::{Clocks, Running, ThreadId},
    job::Job,
};

pub(super) struct Mailbox<G: Tactics> {
    state: Mutex<State<G>>,
    changed: Condvar,
    clocks: Arc<dyn Clocks>,
}

struct State<G: Tactics> {
    /// Whether there is a thread, or one is being started.
    has_thread: bool,
    waiting: Option<Job<G>>,
    current: Option<Running>,
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
    pub(super) fn new(clocks: Arc<dyn Clocks>) -> Self {
        let state = State { has_thread: true, waiting: None, current: None, owner: Owner::Waits };
        Mailbox { state: Mutex::new(state), changed: Condvar::new(), clocks }
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
            current.stop.stop();
        }
        let replaced = state.waiting.replace(job);
        self.changed.notify_one();
        drop(state);
        drop(replaced);
        None
    }

    /// Waits on this thread for the next job; `None` if there will be none.
    pub(super) fn take(&self, thread: &ThreadId) -> Option<Job<G>> {
        // Waiting uses hardly any, and reading it later would hold up the job and the lock.
        let cpu_at_start = self.clocks.cpu_time(thread);
        let mut state = self.lock();
        loop {
            if state.owner != Owner::Waits {
                return None;
            }
            if let Some(job) = state.waiting.take() {
                let (stop, thread, began_at) = (job.stop.clone(), thread.clone(), self.clocks.now());
                state.current = Some(Running { stop, thread, began_at, cpu_at_start });
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
            current.stop.stop();
        }
        self.changed.notify_one();
        drop(state);
        drop(waiting);
    }

    /// Returns whether the thread still runs a job that was stopped long ago.
    pub(super) fn is_hung(&self) -> bool {
        let current = self.lock().current.clone();
        current.is_some_and(|current| current.is_hung(&*self.clocks))
    }

    #[cfg(test)]
    pub(super) fn is_busy(&self) -> bool {
        self.lock().current.is_some()
    }
}

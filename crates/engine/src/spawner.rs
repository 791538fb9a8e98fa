//! Starts search threads, and counts the abandoned ones.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use crate::{priority, search::STACK_SIZE};

type Work = Box<dyn FnOnce() + Send>;

/// Maximum number of abandoned threads: one that hangs may occupy a core for ever.
pub(crate) const MAX_ABANDONED: usize = 4;
/// Attempts to start a thread, …
const ATTEMPTS: u32 = 6;
/// … with this pause between them.
const PAUSE: Duration = Duration::from_millis(5);
/// Length of the queue of threads to start.
const QUEUE: usize = 1024;

/// Starts threads without blocking the caller. Clones share the count of abandoned threads.
///
/// To start a thread, the system locks the memory map of the process, and the caller waits for every preempted
/// holder of that lock. An answer must not: with thirty games that start at once it was measured to leave 16 ms
/// late. So a thread of its own starts the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadSpawner {
    queue: Option<SyncSender<Work>>,
    abandoned: Arc<AtomicUsize>,
}

impl ThreadSpawner {
    /// Starts the thread that starts the others. Where the system refuses it, threads are started directly.
    pub(crate) fn new() -> Self {
        let (queue, works) = sync_channel(QUEUE);
        let thread = thread::Builder::new().name("spawner".into()).spawn(move || spawn_all(works));
        ThreadSpawner { queue: thread.is_ok().then_some(queue), abandoned: Arc::default() }
    }

    /// Starts a thread for this work. If the system refuses it later, the work is dropped and the error logged.
    ///
    /// # Errors
    /// The system refuses the thread at once.
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Some(queue) = &self.queue else { return spawn(Box::new(work)) };
        queue.try_send(Box::new(work)).or_else(|refused| match refused {
            TrySendError::Full(work) | TrySendError::Disconnected(work) => spawn(work),
        })
    }

    /// Counts a thread as abandoned; `false` if there are too many already.
    pub(crate) fn abandon_one(&self) -> bool {
        let more = |count| (count < MAX_ABANDONED).then_some(count + 1);
        self.abandoned.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Counts an abandoned thread as ended.
    pub(crate) fn one_came_back(&self) {
        self.abandoned.fetch_sub(1, Relaxed);
    }
}

fn spawn_all(works: Receiver<Work>) {
    priority::usual();
    for work in works {
        if let Err(error) = spawn(work) {
            tracing::error!(%error, "no thread for the search; playing without");
        }
    }
}

fn spawn(work: Work) -> io::Result<()> {
    // A refused thread drops its closure, so the work is kept outside of it.
    let work = Arc::new(Mutex::new(Some(work)));
    retry(|| {
        let work = work.clone();
        let run = move || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        };
        thread::Builder::new().name("search".into()).stack_size(STACK_SIZE).spawn(run).map(drop)
    })
}

/// A system with very many threads may refuse one and grant it a moment later.
fn retry(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(error) => tracing::warn!(%error, "no thread for the search yet"),
        }
        thread::sleep(PAUSE);
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_thread_is_retried_but_not_for_ever() {
        let tries = |refused: u32| {
            let mut tries = 0;
            let started = retry(|| {
                tries += 1;
                if tries > refused { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
            });
            (tries, started.is_ok())
        };
        assert_eq!(tries(0), (1, true));
        assert_eq!(tries(3), (4, true));
        assert_eq!(tries(1000), (ATTEMPTS, false));
    }
}

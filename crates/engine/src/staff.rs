//! The threads of a workshop: how they are started, and how many were left behind.

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

use super::search::STACK_SIZE;
use crate::priority;

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

/// More are left behind by nobody: who hangs this often would have the whole machine in the end.
pub(super) const MOST_ABANDONED: usize = 4;
/// So often the system is asked for a thread, …
const TRIES: u32 = 6;
/// … with so long between.
const PAUSE: Duration = Duration::from_millis(5);
/// Threads that may wait to be started.
const WAITING: usize = 1024;

/// Starts threads without making anybody wait. Cheap to clone; minds that share a workshop share it.
///
/// To start a thread the system locks the memory map of the whole program, and whoever asks for it waits for
/// all who hold that lock and were just put aside. An answer must not: with thirty games that begin at once
/// it was measured to leave 16 ms late. So a thread of its own does it.
#[derive(Clone, Debug, Default)]
pub(super) struct Staff {
    starter: Option<SyncSender<Work>>,
    abandoned: Arc<AtomicUsize>,
}

impl Staff {
    /// With a thread that starts threads, or without where there is none to be had.
    pub fn new() -> Staff {
        let (starter, works) = sync_channel(WAITING);
        let thread = thread::Builder::new().name("staff".into()).spawn(move || start_all(works));
        Staff { starter: thread.is_ok().then_some(starter), abandoned: Arc::default() }
    }

    /// A thread for this work. Where one cannot be had after all, the work is dropped, and that is logged.
    ///
    /// # Errors
    /// Where that can be said at once.
    pub fn start(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Some(starter) = &self.starter else { return start(Box::new(work)) };
        starter.try_send(Box::new(work)).or_else(|refused| match refused {
            TrySendError::Full(work) | TrySendError::Disconnected(work) => start(work),
        })
    }

    /// A thread hangs: is there room to leave it behind?
    pub fn leave_one_behind(&self) -> bool {
        let more = |count| (count < MOST_ABANDONED).then_some(count + 1);
        self.abandoned.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// One that was left behind has come to its end.
    pub fn one_came_back(&self) {
        self.abandoned.fetch_sub(1, Relaxed);
    }
}

fn start_all(works: Receiver<Work>) {
    priority::usual();
    for work in works {
        if let Err(error) = start(work) {
            tracing::error!(%error, "no thread for the search; playing without");
        }
    }
}

fn start(work: Work) -> io::Result<()> {
    // A thread that does not come to be takes what it was given with it.
    let work = Arc::new(Mutex::new(Some(work)));
    insist(|| {
        let work = work.clone();
        let run = move || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        };
        thread::Builder::new().name("mind".into()).stack_size(STACK_SIZE).spawn(run).map(drop)
    })
}

/// On a machine with very many threads the system may refuse one, and have it a moment later.
fn insist(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..TRIES {
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
    fn a_thread_that_is_refused_is_asked_for_again_but_not_for_ever() {
        let tries = |refused: u32| {
            let mut tries = 0;
            let started = insist(|| {
                tries += 1;
                if tries > refused { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
            });
            (tries, started.is_ok())
        };
        assert_eq!(tries(0), (1, true));
        assert_eq!(tries(3), (4, true));
        assert_eq!(tries(1000), (TRIES, false));
    }
}

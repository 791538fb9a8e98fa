//! Limits the searches that run at once to the number of cores; more than that take turns.
//!
//! If the operating system shared out the cores, a search would now and then be preempted while it holds a lock
//! that an answer waits for, and all others would run first: with thirty searches on two cores, answers were
//! measured to leave up to 100 ms late.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use crate::limits::StopFlag;

/// A search that has run for this long lets others run, if some wait.
const SLICE: Duration = Duration::from_millis(2);
/// Interval at which a waiting search checks its stop flag.
const POLL: Duration = Duration::from_millis(5);
/// Maximum wait, so that a search that does not yield cannot block the others.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Hands out time slices; shared by all searches of a factory.
#[derive(Debug)]
pub(crate) struct SearchScheduler {
    queue: Mutex<Queue>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Queue {
    free: usize,
    /// Searches that have not run yet; these go first.
    fresh: VecDeque<Arc<Ticket>>,
    /// Searches that have run before.
    seasoned: VecDeque<Arc<Ticket>>,
}

#[derive(Debug)]
struct Ticket {
    thread: Thread,
    called: AtomicBool,
}

/// The right to run; given back when dropped.
#[derive(Debug)]
pub(crate) struct TimeSlice<'s> {
    scheduler: &'s SearchScheduler,
    since: Instant,
    /// Whether a core was granted, or the search runs without one after [`MAX_WAIT`].
    granted: bool,
}

impl SearchScheduler {
    /// Creates a scheduler for this many cores.
    pub(crate) fn new(cores: NonZeroUsize) -> Self {
        let queue = Queue { free: cores.get(), fresh: VecDeque::new(), seasoned: VecDeque::new() };
        SearchScheduler { queue: Mutex::new(queue), waiting: AtomicUsize::new(0) }
    }

    /// Waits for the first time slice, at most until stopped.
    pub(crate) fn begin(&self, stop: &StopFlag) -> TimeSlice<'_> {
        let granted = self.wait(stop, |queue| &mut queue.fresh);
        TimeSlice { scheduler: self, since: Instant::now(), granted }
    }

    /// Waits for a core; returns whether it was granted.
    fn wait(&self, stop: &StopFlag, line: fn(&mut Queue) -> &mut VecDeque<Arc<Ticket>>) -> bool {
        let ticket = {
            let mut queue = self.lock();
            if queue.free > 0 {
                queue.free -= 1;
                return true;
            }
            let ticket = Arc::new(Ticket { thread: thread::current(), called: AtomicBool::new(false) });
            line(&mut queue).push_back(ticket.clone());
            self.count(&queue);
            ticket
        };
        let end = Instant::now() + MAX_WAIT;
        while !ticket.called.load(Relaxed) && !stop.is_raised() && Instant::now() < end {
            thread::park_timeout(POLL);
        }
        let mut queue = self.lock();
        line(&mut queue).retain(|other| !Arc::ptr_eq(other, &ticket));
        self.count(&queue);
        // Under the lock, as only a search in the queue is called.
        ticket.called.load(Relaxed)
    }

    fn give_back(&self) {
        let mut queue = self.lock();
        match queue.fresh.pop_front().or_else(|| queue.seasoned.pop_front()) {
            Some(next) => {
                next.called.store(true, Relaxed);
                next.thread.unpark();
            }
            None => queue.free += 1,
        }
        self.count(&queue);
    }

    fn count(&self, queue: &Queue) {
        self.waiting.store(queue.fresh.len() + queue.seasoned.len(), Relaxed);
    }

    /// Nothing that could panic is done while it is held.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TimeSlice<'_> {
    /// Lets others run, if some wait and this slice is used up.
    pub(crate) fn yield_if_due(&mut self, stop: &StopFlag) {
        if self.scheduler.waiting.load(Relaxed) == 0 || self.since.elapsed() < SLICE {
            return;
        }
        if self.granted {
            self.scheduler.give_back();
        }
        self.granted = self.scheduler.wait(stop, |queue| &mut queue.seasoned);
        self.since = Instant::now();
    }
}

impl Drop for TimeSlice<'_> {
    fn drop(&mut self) {
        if self.granted {
            self.scheduler.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler(cores: usize) -> SearchScheduler {
        SearchScheduler::new(NonZeroUsize::new(cores).unwrap())
    }

    #[test]
    fn no_more_run_at_once_than_there_are_cores_and_all_come_to_run() {
        let (scheduler, stop) = (scheduler(2), StopFlag::default());
        let (running, most, slices) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut turn = scheduler.begin(&stop);
                    for _ in 0..20 {
                        if turn.granted {
                            most.fetch_max(1 + running.fetch_add(1, Relaxed), Relaxed);
                            thread::sleep(SLICE / 4);
                            running.fetch_sub(1, Relaxed);
                            slices.fetch_add(1, Relaxed);
                        }
                        turn.yield_if_due(&stop);
                    }
                });
            }
        });
        assert!(most.load(Relaxed) <= 2, "{most:?}");
        assert!(slices.load(Relaxed) > 80, "{slices:?}");
        assert_eq!(scheduler.lock().free, 2);
        assert_eq!(scheduler.waiting.load(Relaxed), 0);
    }

    #[test]
    fn a_search_that_does_not_yield_does_not_block_the_others_for_ever() {
        let (scheduler, stop) = (scheduler(1), StopFlag::default());
        let kept = scheduler.begin(&stop);
        let late = scheduler.begin(&stop);
        assert!(kept.granted && !late.granted);
        drop(late);
        drop(kept);
        assert_eq!(scheduler.lock().free, 1);
    }

    #[test]
    fn a_stopped_search_does_not_wait() {
        let (scheduler, stop) = (scheduler(1), StopFlag::default());
        let _kept = scheduler.begin(&stop);
        stop.stop();
        assert!(!scheduler.begin(&stop).granted);
        assert_eq!(scheduler.waiting.load(Relaxed), 0);
    }

    #[test]
    fn a_search_that_has_not_run_yet_goes_first() {
        let (scheduler, stop) = (scheduler(1), StopFlag::default());
        let order = Mutex::new(Vec::new());
        let mut first = scheduler.begin(&stop);
        let wait_for = |waiting| {
            while scheduler.waiting.load(Relaxed) < waiting {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut seasoned =
                    TimeSlice { scheduler: &scheduler, since: Instant::now() - SLICE, granted: false };
                wait_for(1);
                seasoned.yield_if_due(&stop);
                order.lock().unwrap().push("seasoned");
            });
            scope.spawn(|| {
                let _fresh = scheduler.begin(&stop);
                order.lock().unwrap().push("fresh");
            });
            wait_for(2);
            first.since -= SLICE;
            first.yield_if_due(&stop);
            order.lock().unwrap().push("first");
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), ["fresh", "seasoned", "first"]);
    }
}

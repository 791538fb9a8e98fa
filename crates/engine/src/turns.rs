//! No more searches run at once than there are cores: where there are more, they take turns.
//!
//! The operating system would let them all run a little. But then each holds, now and then, a lock that
//! somebody who must answer waits for, just when its time is up and all the others go first: with thirty
//! searches on two cores, answers were measured to leave up to 100 ms late.

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

use super::StopFlag;

/// Who has run for this long lets others run, if some wait.
const SLICE: Duration = Duration::from_millis(2);
/// Who waits looks this often whether there is still something to wait for.
const LOOK: Duration = Duration::from_millis(5);
/// Nobody waits longer than this: one who does not give its turn back shall not hold up the others.
const LONGEST: Duration = Duration::from_millis(100);

/// Hands out turns; shared by all searches of a workshop.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    /// As many as wait in the queue.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Queue {
    free: usize,
    /// Those who have not run yet go before those who have.
    fresh: VecDeque<Arc<Ticket>>,
    seasoned: VecDeque<Arc<Ticket>>,
}

/// Of one who waits.
#[derive(Debug)]
struct Ticket {
    thread: Thread,
    called: AtomicBool,
}

/// The right to run.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    since: Instant,
    /// Or did we begin without, after a long wait?
    ours: bool,
}

impl Turns {
    /// So many run at once.
    pub fn new(cores: NonZeroUsize) -> Turns {
        let queue = Queue { free: cores.get(), fresh: VecDeque::new(), seasoned: VecDeque::new() };
        Turns { queue: Mutex::new(queue), waiting: AtomicUsize::new(0) }
    }

    /// Waits for the first turn, at most until told to stop.
    pub fn begin(&self, stop: &StopFlag) -> Turn<'_> {
        let ours = self.wait(stop, |queue| &mut queue.fresh);
        Turn { turns: self, since: Instant::now(), ours }
    }

    /// Is the turn ours now?
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
        let end = Instant::now() + LONGEST;
        while !ticket.called.load(Relaxed) && !stop.is_raised() && Instant::now() < end {
            thread::park_timeout(LOOK);
        }
        let mut queue = self.lock();
        line(&mut queue).retain(|other| !Arc::ptr_eq(other, &ticket));
        self.count(&queue);
        // Under the lock: nobody is called any more who is not in the queue.
        ticket.called.load(Relaxed)
    }

    /// A turn is over: the next one, please.
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

impl Turn<'_> {
    /// Lets others run, if some wait and it is their time.
    pub fn look(&mut self, stop: &StopFlag) {
        if self.turns.waiting.load(Relaxed) == 0 || self.since.elapsed() < SLICE {
            return;
        }
        if self.ours {
            self.turns.give_back();
        }
        self.ours = self.turns.wait(stop, |queue| &mut queue.seasoned);
        self.since = Instant::now();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.ours {
            self.turns.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(cores: usize) -> Turns {
        Turns::new(NonZeroUsize::new(cores).unwrap())
    }

    #[test]
    fn no_more_run_at_once_than_there_are_cores_and_all_come_to_run() {
        let (turns, stop) = (turns(2), StopFlag::default());
        let (running, most, slices) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut turn = turns.begin(&stop);
                    for _ in 0..20 {
                        if turn.ours {
                            most.fetch_max(1 + running.fetch_add(1, Relaxed), Relaxed);
                            thread::sleep(SLICE / 4);
                            running.fetch_sub(1, Relaxed);
                            slices.fetch_add(1, Relaxed);
                        }
                        turn.look(&stop);
                    }
                });
            }
        });
        assert!(most.load(Relaxed) <= 2, "{most:?}");
        assert!(slices.load(Relaxed) > 80, "{slices:?}");
        assert_eq!(turns.lock().free, 2);
        assert_eq!(turns.waiting.load(Relaxed), 0);
    }

    #[test]
    fn one_who_keeps_its_turn_does_not_hold_up_the_others_for_ever() {
        let (turns, stop) = (turns(1), StopFlag::default());
        let kept = turns.begin(&stop);
        let late = turns.begin(&stop);
        assert!(kept.ours && !late.ours);
        drop(late);
        drop(kept);
        assert_eq!(turns.lock().free, 1);
    }

    #[test]
    fn who_is_told_to_stop_does_not_wait() {
        let (turns, stop) = (turns(1), StopFlag::default());
        let _kept = turns.begin(&stop);
        stop.stop();
        assert!(!turns.begin(&stop).ours);
        assert_eq!(turns.waiting.load(Relaxed), 0);
    }

    #[test]
    fn who_has_not_run_yet_goes_first() {
        let (turns, stop) = (turns(1), StopFlag::default());
        let order = Mutex::new(Vec::new());
        let mut first = turns.begin(&stop);
        let wait_for = |waiting| {
            while turns.waiting.load(Relaxed) < waiting {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut seasoned = Turn { turns: &turns, since: Instant::now() - SLICE, ours: false };
                wait_for(1);
                seasoned.look(&stop);
                order.lock().unwrap().push("seasoned");
            });
            scope.spawn(|| {
                let _fresh = turns.begin(&stop);
                order.lock().unwrap().push("fresh");
            });
            wait_for(2);
            first.since -= SLICE;
            first.look(&stop);
            order.lock().unwrap().push("first");
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), ["fresh", "seasoned", "first"]);
    }
}

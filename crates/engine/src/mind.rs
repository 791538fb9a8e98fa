//! A thinker on a thread of its own, for callers who cannot wait.
//!
//! The caller gives an [`Order`] and goes on; it reads the decision whenever it must answer. A thinker
//! that panics is replaced at once. One that does not stop when told to cannot be killed: its thread is
//! abandoned, and the next order goes to a new one.

use std::{
    io,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use zeitnot_rules::GameHistory;

use super::{Decision, Limits, Playable, Progress, Report, StopFlag, Task, Thinker, Workshop, staff::Staff};

/// A thinker that has been told to stop gets this long before it counts as hung: on a machine that is
/// busy with other things it may have to wait for a core before it can hear anything.
const GRACE: Duration = Duration::from_millis(500);

/// Why there is no report.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thinker panicked; the move that stood in the slot is played, and a new thinker takes over")]
pub struct Panicked;

/// Hears of each iteration, and says whether another is wanted.
pub type Watch<G> = Box<dyn Fn(&Progress<G>) -> ControlFlow<()> + Send + Sync>;
/// Hears of the end.
pub type Done = Box<dyn FnOnce(Result<Report, Panicked>) + Send>;

/// Something to think about.
pub struct Order<G: Playable> {
    /// The game so far.
    pub line: GameHistory<G>,
    /// When to stop.
    pub limits: Limits,
    /// The slot: the caller keeps a handle and reads it at the deadline.
    pub best: Arc<Decision>,
    /// The caller keeps a handle and raises it when the answer is out.
    pub stop: Arc<StopFlag>,
    /// Hears of each iteration, and says whether another is wanted.
    pub watch: Watch<G>,
    /// Called once, when the thinker has returned.
    pub done: Done,
}

/// Where thinkers come from; called on the thread that they work on.
type Maker<G> = Arc<dyn Fn() -> Box<dyn Thinker<G>> + Send + Sync>;

/// The caller's end.
pub struct Mind<G: Playable> {
    maker: Maker<G>,
    desk: Option<Arc<Desk<G>>>,
    staff: Staff,
}

/// Between a mind and its thread: one order waits, and the latest is the one that counts.
struct Desk<G: Playable> {
    tray: Mutex<Tray<G>>,
    changed: Condvar,
}

/// The thread's end of a desk; dropped, it is left for ever.
struct Place<G: Playable>(Arc<Desk<G>>);

impl<G: Playable> Drop for Place<G> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

struct Tray<G: Playable> {
    /// Is there a thread, or will there be one?
    manned: bool,
    waiting: Option<Order<G>>,
    /// Stops the order that is worked at.
    current: Option<Arc<StopFlag>>,
    owner: Owner,
}

/// Whether anybody still waits for the thread's work.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Owner {
    Waits,
    IsGone,
    /// And has a new thread.
    LeftUsBehind,
}

impl<G: Playable> Mind<G> {
    /// Thinkers come from this workshop; the thread starts with the first order.
    pub fn new(workshop: Workshop) -> Self {
        let staff = workshop.staff();
        let maker = move || {
            workshop.enter_thread();
            workshop.thinker()
        };
        Mind::with_maker(maker, staff)
    }

    /// The same, but the thinker is made now, and not with the first order: it may take its time to begin.
    pub fn ready(workshop: Workshop) -> Self {
        let mut mind = Mind::new(workshop);
        // Where there is no thread now, there may be one with the first order.
        let _ = mind.new_desk();
        mind
    }

    fn with_maker(maker: impl Fn() -> Box<dyn Thinker<G>> + Send + Sync + 'static, staff: Staff) -> Self {
        Mind { maker: Arc::new(maker), desk: None, staff }
    }

    /// Begins to think. An order that still runs is stopped, one that waits is dropped.
    ///
    /// If no thread can be had, now or a moment later, `done` is dropped without a call, and the decision
    /// stands. An order waits where too many threads hang already: it is begun should one of them come back.
    pub fn order(&mut self, order: Order<G>) {
        if self.desk.as_ref().is_some_and(|desk| desk.is_hung()) {
            self.abandon();
        }
        let refused = match &self.desk {
            Some(desk) => desk.put(order),
            None => Some(order),
        };
        let Some(order) = refused else { return };
        match self.new_desk() {
            // Whoever leaves even this one takes the order along.
            Ok(desk) => drop(desk.put(order)),
            Err(error) => tracing::error!(%error, "no thread for the search; playing without"),
        }
    }

    /// Leaves a hung thread behind, unless there are too many of that kind.
    fn abandon(&mut self) {
        if !self.staff.leave_one_behind() {
            tracing::error!("a search did not stop when told to, nor did others: playing without one");
            return;
        }
        tracing::error!(
            "a search did not stop when told to; its thread is left behind and a new one takes over"
        );
        if let Some(desk) = self.desk.take() {
            desk.close(Owner::LeftUsBehind);
        }
    }

    fn new_desk(&mut self) -> io::Result<&Desk<G>> {
        let desk = Desk::open(self.maker.clone(), &self.staff)?;
        Ok(self.desk.insert(desk))
    }
}

impl<G: Playable> Drop for Mind<G> {
    fn drop(&mut self) {
        if let Some(desk) = &self.desk {
            desk.close(Owner::IsGone);
        }
    }
}

impl<G: Playable> Desk<G> {
    fn open(maker: Maker<G>, staff: &Staff) -> io::Result<Arc<Self>> {
        let tray = Tray { manned: true, waiting: None, current: None, owner: Owner::Waits };
        let desk = Arc::new(Desk { tray: Mutex::new(tray), changed: Condvar::new() });
        // Also left by a thread that never comes to be: then the closure is dropped without a call.
        let place = Place(desk.clone());
        let home = staff.clone();
        staff.start(move || {
            let mut thinker = maker();
            while let Some(order) = place.0.take() {
                let report = work(&mut thinker, &order);
                if report.is_err() {
                    thinker = maker();
                }
                match place.0.finish() {
                    Owner::Waits => (order.done)(report),
                    Owner::IsGone => {}
                    Owner::LeftUsBehind => home.one_came_back(),
                }
            }
        })?;
        Ok(desk)
    }

    /// Nothing that could panic is done while it is held.
    fn lock(&self) -> MutexGuard<'_, Tray<G>> {
        self.tray.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the order back where nobody is there to take it.
    fn put(&self, order: Order<G>) -> Option<Order<G>> {
        let mut tray = self.lock();
        if !tray.manned {
            return Some(order);
        }
        if let Some(current) = &tray.current {
            current.stop();
        }
        let dropped = tray.waiting.replace(order);
        self.changed.notify_one();
        drop(tray);
        drop(dropped);
        None
    }

    /// Nobody works here any more: who waits for an order need not.
    fn leave(&self) {
        let mut tray = self.lock();
        tray.manned = false;
        tray.current = None;
        let dropped = tray.waiting.take();
        drop(tray);
        drop(dropped);
    }

    /// The next order; `None` when there will be none.
    fn take(&self) -> Option<Order<G>> {
        let mut tray = self.lock();
        loop {
            if tray.owner != Owner::Waits {
                return None;
            }
            if let Some(order) = tray.waiting.take() {
                tray.current = Some(order.stop.clone());
                return Some(order);
            }
            tray = self.changed.wait(tray).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The order is done. Who wants to know?
    fn finish(&self) -> Owner {
        let mut tray = self.lock();
        tray.current = None;
        tray.owner
    }

    fn close(&self, owner: Owner) {
        let mut tray = self.lock();
        tray.owner = owner;
        let dropped = tray.waiting.take();
        if let Some(current) = &tray.current {
            current.stop();
        }
        self.changed.notify_one();
        drop(tray);
        drop(dropped);
    }

    /// Is it still at an order that was stopped long ago?
    fn is_hung(&self) -> bool {
        let since = self.lock().current.as_ref().and_then(|stop| stop.raised_at());
        since.is_some_and(|since| since.elapsed() > GRACE)
    }
}

fn work<G: Playable>(thinker: &mut Box<dyn Thinker<G>>, order: &Order<G>) -> Result<Report, Panicked> {
    let Order { line, limits, best, stop, watch, .. } = order;
    let task = Task { line, limits, best, stop, watch };
    // After a panic the thinker is thrown away, so nothing half-done is seen again.
    catch_unwind(AssertUnwindSafe(|| thinker.think(&task))).map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering::Relaxed},
            mpsc,
        },
        thread,
        time::Instant,
    };

    use super::*;
    use crate::{
        faulty::{Fault, Faulty, LastMove},
        staff::MOST_ABANDONED,
    };
    use zeitnot_rules::{Game, Packed, chess::Chess};

    fn last_move() -> Packed {
        let start = Chess::start();
        start.pack(start.moves()[19])
    }

    /// An order, its slot, and where its end is told.
    fn order() -> (Order<Chess>, Arc<Decision>, mpsc::Receiver<Result<Report, Panicked>>) {
        let (tell, told) = mpsc::channel();
        let best = Arc::new(Decision::new(Packed(1)));
        let order = Order {
            line: GameHistory::new(Chess::start()),
            limits: Limits::default(),
            best: best.clone(),
            stop: Arc::new(StopFlag::default()),
            watch: Box::new(|_| ControlFlow::Continue(())),
            done: Box::new(move |result| tell.send(result).unwrap_or_default()),
        };
        (order, best, told)
    }

    /// A mind whose first thinkers have this fault, and a count of all.
    fn mind(fault: Fault, faulty: usize) -> (Mind<Chess>, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let maker = move || -> Box<dyn Thinker<Chess>> {
            if count.fetch_add(1, Relaxed) < faulty { Box::new(Faulty(fault)) } else { Box::new(LastMove) }
        };
        (Mind::with_maker(maker, Staff::default()), made)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_thinker_that_panics_is_replaced_and_its_slot_stands() {
        let (mut mind, made) = mind(Fault::Panics, 1);
        let (first, slot, told) = order();
        mind.order(first);
        assert_eq!(told.recv_timeout(LONG), Ok(Err(Panicked)));
        assert_eq!(slot.read().mv, Packed(1));
        let (second, slot, told) = order();
        mind.order(second);
        assert!(told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!((slot.read().mv, made.load(Relaxed)), (last_move(), 2));
    }

    /// Orders until somebody works at it, or the time is up.
    fn order_until_done(mind: &mut Mind<Chess>, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            let (next, slot, told) = order();
            mind.order(next);
            if told.recv_timeout(Duration::from_millis(20)).is_ok_and(|report| report.is_ok()) {
                return slot.read().mv == last_move();
            }
        }
        false
    }

    #[test]
    fn a_thinker_that_hangs_is_left_behind_also_by_orders_that_come_in_haste() {
        let (mut mind, made) = mind(Fault::Hangs, 1);
        assert!(order_until_done(&mut mind, LONG));
        assert_eq!(made.load(Relaxed), 2);
    }

    #[test]
    fn the_next_order_after_a_while_goes_to_a_new_thread_at_once() {
        let (mut mind, _) = mind(Fault::Hangs, 1);
        let (first, slot, told) = order();
        let stop = first.stop.clone();
        mind.order(first);
        // The deadline: the caller reads the slot, raises the flag, and goes on.
        assert_eq!(slot.read().mv, Packed(1));
        while mind.desk.as_ref().is_none_or(|desk| desk.lock().current.is_none()) {
            thread::yield_now();
        }
        stop.stop();
        thread::sleep(GRACE + Duration::from_millis(50));
        let (second, slot, second_told) = order();
        mind.order(second);
        assert!(second_told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!(slot.read().mv, last_move());
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "the first is still at it");
    }

    #[test]
    fn one_that_was_stopped_just_now_is_not_taken_for_hung_however_long_it_had_thought() {
        let (mut mind, made) = mind(Fault::Silent, 1);
        let (first, _, told) = order();
        mind.order(first);
        thread::sleep(2 * GRACE);
        let (second, _, _) = order();
        mind.order(second);
        assert!(told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!(made.load(Relaxed), 1);
    }

    #[test]
    fn the_latest_order_is_the_one_that_waits() {
        let (mut mind, _) = mind(Fault::Silent, 1);
        let (first, _, first_told) = order();
        mind.order(first);
        while mind.desk.as_ref().is_none_or(|desk| desk.lock().current.is_none()) {
            thread::yield_now();
        }
        let (dropped, _, never) = order();
        let (latest, _, _latest_told) = order();
        let stop = latest.stop.clone();
        mind.desk.as_ref().unwrap().lock().waiting = Some(dropped);
        mind.order(latest);
        assert!(first_told.recv_timeout(LONG).unwrap().is_ok(), "stopped for the next");
        assert_eq!(never.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
        stop.stop();
    }

    #[test]
    fn no_more_threads_are_left_behind_than_a_few() {
        let (mut mind, made) = mind(Fault::Hangs, 100);
        assert!(!order_until_done(&mut mind, GRACE * (MOST_ABANDONED as u32 + 4)));
        assert_eq!(made.load(Relaxed), MOST_ABANDONED + 1);
    }

    #[test]
    fn an_order_that_nobody_can_take_is_dropped_and_the_next_finds_somebody() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        // The first thread ends before it begins, as one that the system refuses after all.
        let maker = move || -> Box<dyn Thinker<Chess>> {
            if count.fetch_add(1, Relaxed) == 0 { panic!("no thinker today") } else { Box::new(LastMove) }
        };
        let mut mind = Mind::with_maker(maker, Staff::default());
        let (first, slot, told) = order();
        mind.order(first);
        assert_eq!(told.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
        assert_eq!(slot.read().mv, Packed(1), "what stood there stands");
        let (second, slot, told) = order();
        mind.order(second);
        assert!(told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!((slot.read().mv, made.load(Relaxed)), (last_move(), 2));
    }

    #[test]
    fn a_thread_that_comes_back_makes_room() {
        let (mut mind, _) = mind(Fault::Deaf, MOST_ABANDONED + 1);
        assert!(order_until_done(&mut mind, LONG));
        drop(mind);
    }
}

//! A thinker on a thread of its own, for callers who cannot wait.
//!
//! The caller gives an [`Order`] and goes on; it reads the decision whenever it must answer. A thinker
//! that panics is replaced at once. One that does not stop when told to cannot be killed: its thread is
//! abandoned, and the next order goes to a new one.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use super::{Decision, Judged, Limits, Progress, Report, StopFlag, Task, Thinker, Workshop};
use crate::game::Line;

/// A thinker that has been told to stop gets this long before it counts as hung.
const GRACE: Duration = Duration::from_millis(200);

/// Why there is no report.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thinker panicked; the move that stood in the slot is played, and a new thinker takes over")]
pub struct Panicked;

/// Hears of each iteration, and says whether another is wanted.
pub type Watch<G> = Box<dyn Fn(&Progress<G>) -> ControlFlow<()> + Send + Sync>;
/// Hears of the end.
pub type Done = Box<dyn FnOnce(Result<Report, Panicked>) + Send>;

/// Something to think about.
pub struct Order<G: Judged> {
    /// The game so far.
    pub line: Line<G>,
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
pub struct Mind<G: Judged> {
    maker: Maker<G>,
    desk: Option<Desk<G>>,
}

/// One thread, and what has been given to it.
struct Desk<G: Judged> {
    orders: mpsc::SyncSender<Order<G>>,
    given: u64,
    finished: Arc<AtomicU64>,
    last_stop: Arc<StopFlag>,
    last_given: Instant,
}

impl<G: Judged> Mind<G> {
    /// Thinkers come from this workshop; the thread starts with the first order.
    pub fn new(workshop: Workshop) -> Self {
        Mind::with_maker(move || {
            workshop.enter_thread();
            workshop.thinker()
        })
    }

    fn with_maker(maker: impl Fn() -> Box<dyn Thinker<G>> + Send + Sync + 'static) -> Self {
        Mind { maker: Arc::new(maker), desk: None }
    }

    /// Begins to think. An order that still runs is stopped.
    ///
    /// If no thread can be had, `done` is dropped without a call, and the decision stands.
    pub fn order(&mut self, order: Order<G>) {
        if self.desk.as_ref().is_some_and(Desk::is_hung) {
            self.abandon();
        }
        if let Some(order) = self.give(order) {
            // One order waits already for a thinker that does not come back.
            self.abandon();
            self.give(order);
        }
    }

    fn abandon(&mut self) {
        tracing::error!(
            "a search did not stop when told to; its thread is abandoned and a new one takes over"
        );
        self.desk = None;
    }

    /// Puts the order on the desk; gives it back where there is no place for it.
    fn give(&mut self, order: Order<G>) -> Option<Order<G>> {
        let desk = match &mut self.desk {
            Some(desk) => desk,
            None => match Desk::open(self.maker.clone()) {
                Ok(desk) => self.desk.insert(desk),
                Err(error) => {
                    tracing::error!(%error, "no thread for the search; playing without");
                    return None;
                }
            },
        };
        desk.last_stop.stop();
        let stop = order.stop.clone();
        match desk.orders.try_send(order) {
            Err(mpsc::TrySendError::Full(order) | mpsc::TrySendError::Disconnected(order)) => Some(order),
            Ok(()) => {
                desk.last_stop = stop;
                desk.last_given = Instant::now();
                desk.given += 1;
                None
            }
        }
    }
}

impl<G: Judged> Drop for Mind<G> {
    fn drop(&mut self) {
        if let Some(desk) = &self.desk {
            desk.last_stop.stop();
        }
    }
}

impl<G: Judged> Desk<G> {
    fn open(maker: Maker<G>) -> std::io::Result<Self> {
        // One order can wait while the one before it is stopping.
        let (orders, inbox) = mpsc::sync_channel::<Order<G>>(1);
        let finished = Arc::new(AtomicU64::new(0));
        let count = finished.clone();
        thread::Builder::new().name("mind".into()).spawn(move || {
            let mut thinker = maker();
            for order in inbox {
                let report = work(&mut thinker, &order);
                if report.is_err() {
                    thinker = maker();
                }
                count.fetch_add(1, Ordering::Release);
                (order.done)(report);
            }
        })?;
        let last_stop = Arc::new(StopFlag::default());
        Ok(Desk { orders, given: 0, finished, last_stop, last_given: Instant::now() })
    }

    /// Is it still at an order that should long be over?
    fn is_hung(&self) -> bool {
        let idle = self.finished.load(Ordering::Acquire) == self.given;
        !idle && self.last_stop.is_raised() && self.last_given.elapsed() > GRACE
    }
}

fn work<G: Judged>(thinker: &mut Box<dyn Thinker<G>>, order: &Order<G>) -> Result<Report, Panicked> {
    let Order { line, limits, best, stop, watch, .. } = order;
    let task = Task { line, limits, best, stop, watch };
    // After a panic the thinker is thrown away, so nothing half-done is seen again.
    catch_unwind(AssertUnwindSafe(|| thinker.think(&task))).map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::{
        engine::{Best, Score},
        game::{Game, Packed, chess::Chess},
    };

    /// Does the first thing once, and plays its last legal move from then on.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Fault {
        Panics,
        Hangs,
    }

    struct Faulty {
        fault: Option<Fault>,
    }

    impl Thinker<Chess> for Faulty {
        fn think(&mut self, task: &Task<'_, Chess>) -> Report {
            match self.fault {
                Some(Fault::Panics) => panic!("on purpose"),
                Some(Fault::Hangs) => loop {
                    thread::sleep(Duration::from_secs(3600));
                },
                None => {
                    task.best.publish(Best { mv: last_move(), score: Score::ZERO, depth: 1 });
                    Report::default()
                }
            }
        }
    }

    fn last_move() -> Packed {
        let start = Chess::start();
        start.pack(start.moves()[19])
    }

    /// An order, its slot, and where its end is told.
    fn order() -> (Order<Chess>, Arc<Decision>, mpsc::Receiver<Result<Report, Panicked>>) {
        let (tell, told) = mpsc::channel();
        let best = Arc::new(Decision::new(Packed(1)));
        let order = Order {
            line: Line::new(Chess::start()),
            limits: Limits::default(),
            best: best.clone(),
            stop: Arc::new(StopFlag::default()),
            watch: Box::new(|_| ControlFlow::Continue(())),
            done: Box::new(move |result| tell.send(result).unwrap_or_default()),
        };
        (order, best, told)
    }

    /// A mind whose first thinker has this fault.
    fn mind(fault: Fault) -> (Mind<Chess>, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let mind = Mind::with_maker(move || {
            let first = count.fetch_add(1, Ordering::Relaxed) == 0;
            Box::new(Faulty { fault: first.then_some(fault) })
        });
        (mind, made)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_thinker_that_panics_is_replaced_and_its_slot_stands() {
        let (mut mind, made) = mind(Fault::Panics);
        let (first, slot, told) = order();
        mind.order(first);
        assert_eq!(told.recv_timeout(LONG), Ok(Err(Panicked)));
        assert_eq!(slot.read().mv, Packed(1));
        let (second, slot, told) = order();
        mind.order(second);
        assert!(told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!((slot.read().mv, made.load(Ordering::Relaxed)), (last_move(), 2));
    }

    #[test]
    fn orders_that_come_in_haste_leave_a_hung_thinker_too() {
        let (mut mind, made) = mind(Fault::Hangs);
        // The first is thought about for ever, the second waits, the third is one too many.
        let answered = (0..100).any(|_| {
            let (next, slot, told) = order();
            mind.order(next);
            let answered = told.recv_timeout(Duration::from_millis(20)).is_ok_and(|report| report.is_ok());
            answered && slot.read().mv == last_move()
        });
        assert!(answered && made.load(Ordering::Relaxed) >= 2);
    }

    #[test]
    fn a_thinker_that_hangs_is_left_behind() {
        let (mut mind, made) = mind(Fault::Hangs);
        let (first, slot, told) = order();
        let stop = first.stop.clone();
        mind.order(first);
        // The deadline: the caller reads the slot, raises the flag, and goes on.
        assert_eq!(slot.read().mv, Packed(1));
        stop.stop();
        thread::sleep(GRACE + Duration::from_millis(50));
        let (second, slot, second_told) = order();
        mind.order(second);
        assert!(second_told.recv_timeout(LONG).unwrap().is_ok());
        assert_eq!((slot.read().mv, made.load(Ordering::Relaxed)), (last_move(), 2));
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "the first is still at it");
    }
}

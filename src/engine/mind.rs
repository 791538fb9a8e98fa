//! A thinker on a thread of its own, for callers who cannot wait.
//!
//! The caller gives an [`Order`] and goes on; it reads the decision whenever it must answer. A thinker
//! that panics is replaced at once. One that does not stop when told to cannot be killed: its thread is
//! abandoned, and the next order goes to a new one.

use std::{
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

/// Hears of each iteration.
pub type Watch<G> = Box<dyn Fn(&Progress<G>) + Send + Sync>;
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
    /// Hears of each iteration.
    pub watch: Watch<G>,
    /// Called once, when the thinker has returned.
    pub done: Done,
}

/// The caller's end.
pub struct Mind<G: Judged> {
    workshop: Workshop,
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
        Mind { workshop, desk: None }
    }

    /// Begins to think. An order that still runs is stopped.
    ///
    /// If no thread can be had, `done` is dropped without a call, and the decision stands.
    pub fn order(&mut self, order: Order<G>) {
        if self.desk.as_ref().is_some_and(Desk::is_hung) {
            tracing::error!(
                "a search did not stop when told to; its thread is abandoned and a new one takes over"
            );
            self.desk = None;
        }
        let desk = match &mut self.desk {
            Some(desk) => desk,
            None => match Desk::open(&self.workshop) {
                Ok(desk) => self.desk.insert(desk),
                Err(error) => return tracing::error!(%error, "no thread for the search; playing without"),
            },
        };
        desk.last_stop.stop();
        desk.last_stop = order.stop.clone();
        desk.last_given = Instant::now();
        desk.given += 1;
        if desk.orders.try_send(order).is_err() {
            self.desk = None;
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
    fn open(workshop: &Workshop) -> std::io::Result<Self> {
        // One order can wait while the one before it is stopping.
        let (orders, inbox) = mpsc::sync_channel::<Order<G>>(1);
        let finished = Arc::new(AtomicU64::new(0));
        let (workshop, count) = (workshop.clone(), finished.clone());
        thread::Builder::new().name("mind".into()).spawn(move || {
            let mut thinker = workshop.thinker::<G>();
            for order in inbox {
                let report = work(&mut thinker, &order);
                if report.is_err() {
                    thinker = workshop.thinker::<G>();
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

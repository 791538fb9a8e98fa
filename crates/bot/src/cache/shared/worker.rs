//! Task that owns the connection to the shared cache's server: connects, exchanges, and leaves a failing server alone.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    sync::{Arc, atomic::Ordering::Relaxed, mpsc::SyncSender},
    time::{Duration, Instant},
};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::{
    pin, select,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

use super::{
    connection::{Connection, Fault, Replies, Request, Target},
    status::Status,
};
use crate::cache::{CachedMove, Counts};

/// Requests that are sent at once.
const BATCH: usize = 64;
/// Exchanges without an answer in time, one after another, until the server is left alone.
const MAX_SLOW: u32 = 3;
/// Bounds of the delay before a new connection. It doubles with each failure, and random jitter adds up to the delay
/// itself, so that a fleet does not return all at once.
const MIN_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(30);
/// A connection that lasted this long resets the delay.
const STABLE_AFTER: Duration = Duration::from_secs(30);
/// Time without a request after which the server is asked whether it still answers.
const IDLE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) enum Task {
    /// A request. Dropped where the server does not answer; so is the sender of a reply.
    Request(Request, Option<Reply>),
    /// Do what is queued, and end.
    Close(SyncSender<()>),
}

pub(super) type Reply = oneshot::Sender<Option<CachedMove>>;

/// Receives word of the end, if anybody waits for it.
type Closing = Option<SyncSender<()>>;

/// The task's state.
pub(super) struct Worker {
    pub target: Target,
    pub inbox: Inbox,
    pub status: Status,
}

impl Worker {
    /// Works until it is told to close, or all handles are dropped. Returns who waits for the end.
    pub(super) async fn run(mut self) -> Closing {
        let mut delays = delays();
        loop {
            let began = Instant::now();
            let fault = match self.work().await {
                Continue(fault) => fault,
                Break(closing) => return closing,
            };
            self.status.down(&fault);
            if began.elapsed() >= STABLE_AFTER {
                delays = self::delays();
            }
            let delay = delays.next().unwrap_or(MAX_DELAY);
            if let Break(closing) = self.inbox.refuse_until(sleep(delay)).await {
                return closing;
            }
        }
    }

    /// Connects, and works until the server fails.
    async fn work(&mut self) -> ControlFlow<Closing, Fault> {
        match self.inbox.refuse_until(Connection::open(&self.target)).await? {
            Ok(connection) => {
                self.status.up();
                serve(&mut self.inbox, connection, &mut self.status).await
            }
            Err(fault) => Continue(fault),
        }
    }
}

/// Works until the server fails. Requests that come while an exchange runs are the next one.
async fn serve(
    inbox: &mut Inbox,
    mut connection: Connection<'_>,
    status: &mut Status,
) -> ControlFlow<Closing, Fault> {
    let mut slow = 0;
    loop {
        let Batch { requests, replies, closing } = inbox.take().await?;
        let exchanged = match requests.is_empty() {
            true => connection.probe().await.map(|()| Replies::default()),
            false => connection.exchange(&requests).await,
        };
        if exchanged.is_err() {
            inbox.note_lost(&requests);
        }
        let fault = match exchanged {
            Ok(done) => {
                slow = 0;
                status.note_writes(&done);
                for (reply, found) in replies.into_iter().zip(done.found) {
                    let _ = reply.map(|reply| reply.send(found));
                }
                None
            }
            Err(Fault::Slow(_)) if slow + 1 < MAX_SLOW => {
                slow += 1;
                None
            }
            Err(fault) => Some(fault),
        };
        if closing.is_some() {
            return Break(closing);
        }
        if let Some(fault) = fault {
            return Continue(fault);
        }
    }
}

/// The worker's queue.
pub(super) struct Inbox {
    pub tasks: mpsc::Receiver<Task>,
    pub counts: Arc<Counts>,
}

/// Tasks that are done together.
#[derive(Default)]
struct Batch {
    requests: Vec<Request>,
    /// For each request.
    replies: Vec<Option<Reply>>,
    closing: Closing,
}

impl Inbox {
    /// Awaits a future, and drops all requests meanwhile. Breaks at the end of the program.
    async fn refuse_until<T>(&mut self, future: impl Future<Output = T>) -> ControlFlow<Closing, T> {
        pin!(future);
        loop {
            select! {
                biased;
                task = self.tasks.recv() => match task {
                    Some(Task::Request(request, _)) => self.note_lost(&[request]),
                    Some(Task::Close(done)) => return Break(Some(done)),
                    None => return Break(None),
                },
                output = &mut future => return Continue(output),
            }
        }
    }

    /// Counts the entries among requests that the server has not answered.
    fn note_lost(&self, requests: &[Request]) {
        let stores = requests.iter().filter(|request| matches!(request, Request::Store(..)));
        self.counts.shared.not_stored.fetch_add(stores.count() as u64, Relaxed);
    }

    /// Waits for requests, and takes those that are there; none after a while. Breaks if all handles are dropped.
    async fn take(&mut self) -> ControlFlow<Closing, Batch> {
        let mut tasks = Vec::new();
        if let Ok(0) = timeout(IDLE, self.tasks.recv_many(&mut tasks, BATCH)).await {
            return Break(None);
        }
        let mut batch = Batch::default();
        for task in tasks {
            match task {
                Task::Request(request, reply) => {
                    batch.requests.push(request);
                    batch.replies.push(reply);
                }
                Task::Close(done) => batch.closing = Some(done),
            }
        }
        Continue(batch)
    }
}

fn delays() -> ExponentialBackoff {
    let delays = ExponentialBuilder::new().with_min_delay(MIN_DELAY).with_max_delay(MAX_DELAY);
    delays.with_jitter().without_max_times().build()
}

//! Shared cache: entries that other bots have found, on a Redis or Valkey server.
//!
//! A thread of its own talks to the server ([`worker`]), so that neither TLS nor a name that is looked up delays a move.
//! A player waits for a lookup beside its search, and only for a part of its time. A fault costs entries, never a game.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::sync_channel,
    },
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    time::{Instant, timeout_at},
};

use zeitnot_engine::priority;

use super::{CachedMove, Config, Counts};

mod config;
mod connection;
mod entry;
mod status;
mod worker;

pub(super) use config::url;
pub use config::{BadSharedPrefix, BadSharedUrl, SharedPrefix, SharedUrl};
pub(super) use connection::Request;
use connection::{EXCHANGE_TIMEOUT, Target};
pub(super) use entry::SharedKey;
use status::Status;
use worker::{Inbox, Task, Worker};

/// Part of the time for a move that a lookup may take, as a divisor.
const PART: u32 = 8;
/// A shorter wait is not worth a request.
const MIN_WAIT: Duration = Duration::from_millis(1);
/// Requests that may wait; more are dropped.
const QUEUE: usize = 1024;
/// Time to send the rest at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Lookups and entries, by what became of them.
#[derive(Debug, Default)]
pub(super) struct SharedCounts {
    /// Positions that the server knew.
    pub(super) found: AtomicU64,
    /// Positions that it did not know.
    pub(super) unknown: AtomicU64,
    /// Lookups without an answer in time.
    pub(super) unanswered: AtomicU64,
    /// Lookups that were not sent, as the server was away.
    pub(super) not_asked: AtomicU64,
    /// Entries that the server has taken.
    pub(super) stored: AtomicU64,
    /// Entries that it has not taken, or was not sent.
    pub(super) not_stored: AtomicU64,
}

impl fmt::Display for SharedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "; shared: ";
        for (counter, what) in [
            (&self.found, "found"),
            (&self.unknown, "unknown"),
            (&self.unanswered, "without an answer in time"),
            (&self.not_asked, "not asked for"),
            (&self.stored, "stored"),
            (&self.not_stored, "not stored"),
        ] {
            let count = counter.load(Relaxed);
            if count > 0 {
                write!(f, "{separator}{count} {what}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// Handle of the shared cache.
#[derive(Debug)]
pub(super) struct SharedCache {
    tasks: mpsc::Sender<Task>,
    /// Whether the server answers.
    is_up: Arc<AtomicBool>,
    counts: Arc<Counts>,
}

impl SharedCache {
    /// Checks the files and the variable that the table names.
    ///
    /// # Errors
    /// Line that says what to correct in the configuration.
    pub(super) fn check(config: &Config) -> Result<(), String> {
        config::client(config).map(drop)
    }

    /// Starts the thread, if a server is configured. What prevents that is reported.
    pub(super) fn start(config: &Config, counts: &Arc<Counts>) -> Option<SharedCache> {
        let server = config.shared.as_ref()?;
        let started = config::client(config).and_then(|client| {
            let Some(client) = client else { return Ok(None) };
            let target =
                Target { client, prefix: config.shared_prefix.clone(), expiry: config.shared_expiry };
            SharedCache::spawn(target, server, counts.clone()).map(Some).map_err(|error| error.to_string())
        });
        started
            .inspect_err(|error| tracing::warn!("shared cache {server}: {error}; playing without it"))
            .ok()?
    }

    fn spawn(target: Target, server: &SharedUrl, counts: Arc<Counts>) -> io::Result<SharedCache> {
        let (tasks, inbox) = mpsc::channel(QUEUE);
        let is_up = Arc::new(AtomicBool::new(false));
        let status = Status::new(server.to_string(), is_up.clone(), counts.clone());
        let worker = Worker { target, inbox: Inbox { tasks: inbox, counts: counts.clone() }, status };
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("shared-cache".into()).spawn(move || {
            priority::usual();
            let closing = runtime.block_on(worker.run());
            // A name that is being looked up must not delay the end.
            runtime.shutdown_background();
            if let Some(done) = closing {
                let _ = done.send(());
            }
        })?;
        Ok(SharedCache { tasks, is_up, counts })
    }

    /// Asks for an entry until that instant. Returns `None` if the server does not answer at present.
    pub(super) fn look_up(
        &self,
        key: SharedKey,
        until: Instant,
    ) -> Option<impl Future<Output = Option<CachedMove>> + use<>> {
        let (reply, answer) = oneshot::channel();
        if !self.send(Request::LookUp(key), Some(reply)) {
            self.counts.shared.not_asked.fetch_add(1, Relaxed);
            return None;
        }
        let counts = self.counts.clone();
        Some(async move {
            let (counter, found) = match timeout_at(until, answer).await {
                Ok(Ok(Some(found))) => (&counts.shared.found, Some(found)),
                Ok(Ok(None)) => (&counts.shared.unknown, None),
                Ok(Err(_)) | Err(_) => (&counts.shared.unanswered, None),
            };
            counter.fetch_add(1, Relaxed);
            found
        })
    }

    /// Tells other bots what we have found.
    pub(super) fn store(&self, key: SharedKey, cached: CachedMove) {
        if !self.send(Request::Store(key, cached), None) {
            self.counts.shared.not_stored.fetch_add(1, Relaxed);
        }
    }

    /// Takes back what a bot has found, as a game was lost with it.
    pub(super) fn remove(&self, key: SharedKey) {
        self.send(Request::Remove(key), None);
    }

    /// Queues a request, if the server answers; returns whether it is queued.
    fn send(&self, request: Request, reply: Option<oneshot::Sender<Option<CachedMove>>>) -> bool {
        self.is_up.load(Relaxed) && self.tasks.try_send(Task::Request(request, reply)).is_ok()
    }

    /// Sends what is queued; returns when the thread has ended, or after a second.
    pub(super) fn close(&self) {
        let (done, wait) = sync_channel(1);
        let end = std::time::Instant::now() + CLOSE_TIMEOUT;
        let mut close = Task::Close(done);
        // A slow server may have filled the queue.
        while let Err(TrySendError::Full(task)) = self.tasks.try_send(close) {
            if std::time::Instant::now() >= end {
                return;
            }
            close = task;
            thread::sleep(Duration::from_millis(10));
        }
        let _ = wait.recv_timeout(end.saturating_duration_since(std::time::Instant::now()));
    }
}

#[cfg(test)]
impl SharedCache {
    /// A handle without a thread, and the requests that it sends.
    pub(super) fn scripted() -> (SharedCache, impl FnMut() -> Option<Request>) {
        let (tasks, mut inbox) = mpsc::channel(QUEUE);
        let cache = SharedCache { tasks, is_up: Arc::new(true.into()), counts: Arc::default() };
        let next = move || match inbox.try_recv().ok()? {
            Task::Request(request, _) => Some(request),
            Task::Close(_) => None,
        };
        (cache, next)
    }
}

/// Returns until when a lookup is waited for if a search would have this time; `None`: it is not worth a request.
pub(super) fn wait_until(time: Duration) -> Option<Instant> {
    let wait = (time / PART).min(EXCHANGE_TIMEOUT);
    (wait >= MIN_WAIT).then(|| Instant::now() + wait)
}

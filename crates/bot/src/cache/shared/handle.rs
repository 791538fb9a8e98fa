//! Handle of the shared cache, and the thread that talks to its server.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
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

use super::{
    client,
    config::SharedUrl,
    connection::{EXCHANGE_TIMEOUT, Request, Target},
    entry::SharedKey,
    status::Status,
    worker::{Inbox, Task, Worker},
};
use crate::cache::{CachedMove, Config, Counts};

/// Part of the time for a move that a lookup may take, as a divisor.
const PART: u32 = 8;
/// A shorter wait is not worth a request.
const MIN_WAIT: Duration = Duration::from_millis(1);
/// Requests that may wait; more are dropped.
const QUEUE: usize = 1024;
/// Time to send the rest at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(in crate::cache) struct SharedCache {
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
    pub(in crate::cache) fn check(config: &Config) -> Result<(), String> {
        client::open(config).map(drop)
    }

    /// Starts the thread, if a server is configured. What prevents that is reported.
    pub(in crate::cache) fn start(config: &Config, counts: &Arc<Counts>) -> Option<SharedCache> {
        let server = config.shared.as_ref()?;
        let started = client::open(config).and_then(|client| {
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

    /// Returns until when a lookup is waited for if a search would have this time; `None`: it is not worth a request.
    pub(in crate::cache) fn wait_until(&self, time: Duration) -> Option<Instant> {
        let wait = (time / PART).min(EXCHANGE_TIMEOUT);
        (wait >= MIN_WAIT).then(|| Instant::now() + wait)
    }

    /// Asks for an entry until that instant. Returns `None` if the server does not answer at present.
    pub(in crate::cache) fn look_up(
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
    pub(in crate::cache) fn store(&self, key: SharedKey, cached: CachedMove) {
        if !self.send(Request::Store(key, cached), None) {
            self.counts.shared.not_stored.fetch_add(1, Relaxed);
        }
    }

    /// Takes back what a bot has found, as a game was lost with it.
    pub(in crate::cache) fn remove(&self, key: SharedKey) {
        self.send(Request::Remove(key), None);
    }

    /// Queues a request, if the server answers; returns whether it is queued.
    fn send(&self, request: Request, reply: Option<oneshot::Sender<Option<CachedMove>>>) -> bool {
        self.is_up.load(Relaxed) && self.tasks.try_send(Task::Request(request, reply)).is_ok()
    }

    /// Sends what is queued; returns when the thread has ended, or after a second.
    pub(in crate::cache) fn close(&self) {
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
    pub(in crate::cache) fn scripted() -> (SharedCache, impl FnMut() -> Option<Request>) {
        let (tasks, mut inbox) = mpsc::channel(QUEUE);
        let cache = SharedCache { tasks, is_up: Arc::new(true.into()), counts: Arc::default() };
        let next = move || match inbox.try_recv().ok()? {
            Task::Request(request, _) => Some(request),
            Task::Close(_) => None,
        };
        (cache, next)
    }
}

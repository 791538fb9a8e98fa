//! Requests that run beside an actor, so that it never waits for one.

use std::future::pending;

use tokio::task::JoinSet;
use tracing::{Instrument, debug, error, warn};

use super::{
    http::{Http, HttpError},
    rate_limits::RequestKind,
};

/// Running requests whose replies matter to their owner. They end with it.
#[derive(Debug)]
pub(crate) struct Tasks<T>(JoinSet<T>);

impl<T> Default for Tasks<T> {
    fn default() -> Self {
        Tasks(JoinSet::new())
    }
}

impl<T: Send + 'static> Tasks<T> {
    pub(crate) fn spawn(&mut self, task: impl Future<Output = T> + Send + 'static) {
        self.0.spawn(task.in_current_span());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Waits for the next reply, forever if nothing runs. Cancel safe.
    pub(crate) async fn next(&mut self) -> T {
        while let Some(joined) = self.0.join_next().await {
            match joined {
                Ok(reply) => return reply,
                Err(error) => error!("a request crashed, please report it: {error}"),
            }
        }
        pending().await
    }
}

/// Requests whose replies change nothing. They are sent even when the session ends.
#[derive(Debug)]
pub(crate) struct Background {
    http: Http,
    tasks: JoinSet<()>,
}

impl Background {
    pub(crate) fn new(http: Http) -> Background {
        Background { http, tasks: JoinSet::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(crate) fn post(&mut self, kind: RequestKind, path: String, form: Option<String>) {
        let http = self.http.clone();
        // A challenge may be gone by the time that it is answered.
        let is_minor = matches!(kind, RequestKind::Challenge | RequestKind::Decline | RequestKind::Abort);
        let posting = async move {
            match http.post(kind, &path, form).await {
                Ok(()) => debug!("{path}: done"),
                Err(error @ HttpError::Unauthorized) => debug!("{path}: {error}"),
                Err(error) if is_minor => debug!("{path}: {error}"),
                Err(error) => warn!("{path}: {error}"),
            }
        };
        self.tasks.spawn(posting.in_current_span());
    }

    /// Forgets requests that are done. Cancel safe.
    pub(crate) async fn next(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending().await
        }
    }

    pub(crate) async fn finish(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

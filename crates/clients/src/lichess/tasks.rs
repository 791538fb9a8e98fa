//! Requests that run beside an actor, so that it never waits for one.

use std::future::pending;

use tokio::task::JoinSet;
use tracing::{Instrument, error};

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

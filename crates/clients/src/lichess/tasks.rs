//! Requests that run beside an actor, so that it never waits for one.

use std::{collections::HashMap, future::pending};

use tokio::task::{Id, JoinSet};
use tracing::{Instrument, error};

/// Running requests whose replies matter to their owner, which gets one reply to each. They end with it.
#[derive(Debug)]
pub(crate) struct Tasks<T> {
    running: JoinSet<T>,
    /// Replies of those that crash.
    if_crashed: HashMap<Id, T>,
}

impl<T> Default for Tasks<T> {
    fn default() -> Self {
        Tasks { running: JoinSet::new(), if_crashed: HashMap::new() }
    }
}

impl<T: Send + 'static> Tasks<T> {
    /// Starts a request, with the reply that its owner gets if it crashes.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = T> + Send + 'static, if_crashed: T) {
        let id = self.running.spawn(task.in_current_span()).id();
        self.if_crashed.insert(id, if_crashed);
    }

    /// Returns whether a request runs whose reply after a crash would be such a one.
    pub(crate) fn any(&self, is_such: impl Fn(&T) -> bool) -> bool {
        self.if_crashed.values().any(is_such)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Waits for the next reply, forever if nothing runs. Cancel safe.
    pub(crate) async fn next(&mut self) -> T {
        while let Some(joined) = self.running.join_next_with_id().await {
            let (id, reply) = match joined {
                Ok((id, reply)) => (id, Some(reply)),
                Err(error) => {
                    error!("a request crashed, please report it: {error}");
                    (error.id(), None)
                }
            };
            let if_crashed = self.if_crashed.remove(&id);
            if let Some(reply) = reply.or(if_crashed) {
                return reply;
            }
        }
        pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    async fn a_request_that_crashes_has_one_reply_like_any_other() {
        let mut tasks = Tasks::default();
        tasks.spawn(async { panic!("this is part of the test") }, "crashed");
        assert_eq!(tasks.next().await, "crashed");
        assert!(tasks.is_empty() && tasks.if_crashed.is_empty());
        tasks.spawn(async { "answered" }, "crashed");
        assert_eq!(tasks.next().await, "answered");
        assert!(tasks.is_empty() && tasks.if_crashed.is_empty());
    }
}

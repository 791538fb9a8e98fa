//! Bounded queue of messages to a client. Nobody waits for one that does not read; one of two things happens to it:
//! - Where each message counts, the client is disconnected when there is no room for another.
//! - Where the latest of a kind is enough (a clock, a game's state, chat), the client skips to it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Messages that wait for a client before it counts as slow. A game sends a handful for a move.
pub(crate) const SLOW: usize = 32;
/// Messages that may wait for one client.
pub(crate) const MAX_WAITING: usize = 256;

/// Writing end; when it is dropped, the queue ends behind what waits. Messages of the same kind `K` replace each other.
#[derive(Debug)]
pub(crate) struct Sender<K, T>(Arc<Shared<K, T>>);

/// Reading end.
#[derive(Debug)]
pub(crate) struct Outbox<K, T>(Arc<Shared<K, T>>);

#[derive(Debug)]
struct Shared<K, T> {
    queue: Mutex<Queue<K, T>>,
    has_changed: Notify,
}

#[derive(Debug)]
struct Queue<K, T> {
    waiting: VecDeque<(Option<K>, T)>,
    has_ended: bool,
}

pub(crate) fn channel<K, T>() -> (Sender<K, T>, Outbox<K, T>) {
    let queue = Mutex::new(Queue { waiting: VecDeque::new(), has_ended: false });
    let shared = Arc::new(Shared { queue, has_changed: Notify::new() });
    (Sender(shared.clone()), Outbox(shared))
}

impl<K, T> Shared<K, T> {
    fn queue(&self) -> MutexGuard<'_, Queue<K, T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: PartialEq, T> Sender<K, T> {
    /// Sends a message that counts. Returns whether the client can stay: if there was no room, the queue ends behind what
    /// waits.
    pub(crate) fn send(&self, message: T) -> bool {
        let mut queue = self.0.queue();
        queue.has_ended |= queue.waiting.len() >= MAX_WAITING;
        self.push(&mut queue, None, message)
    }

    /// Sends a message that a slow client gets in place of those of its kind that wait.
    pub(crate) fn send_latest(&self, kind: K, message: T) {
        let mut queue = self.0.queue();
        let kind = Some(kind);
        if queue.waiting.len() >= SLOW {
            queue.waiting.retain(|(other, _)| *other != kind);
        }
        // Of a client for which so many wait that count, too, nothing is expected any more.
        if queue.waiting.len() < MAX_WAITING {
            self.push(&mut queue, kind, message);
        }
    }

    fn push(&self, queue: &mut Queue<K, T>, kind: Option<K>, message: T) -> bool {
        if !queue.has_ended && self.is_read() {
            queue.waiting.push_back((kind, message));
        }
        self.0.has_changed.notify_one();
        !queue.has_ended
    }

    /// Returns whether somebody reads.
    pub(crate) fn is_read(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl<K, T> Drop for Sender<K, T> {
    fn drop(&mut self) {
        self.0.queue().has_ended = true;
        self.0.has_changed.notify_one();
    }
}

impl<K, T> Outbox<K, T> {
    /// Returns the next message; `None` at the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<T> {
        loop {
            {
                let mut queue = self.0.queue();
                if let Some((_, message)) = queue.waiting.pop_front() {
                    return Some(message);
                } else if queue.has_ended {
                    return None;
                }
            }
            self.0.has_changed.notified().await;
        }
    }

    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.0.queue().waiting.drain(..).map(|(_, message)| message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_client_skips_to_the_latest_of_each_kind() {
        let (sender, mut outbox) = channel();
        sender.send(0);
        for number in 0..10 * MAX_WAITING {
            sender.send_latest("chat", number);
            sender.send_latest("state", number);
        }
        let waiting = outbox.drain();
        assert!(waiting.len() <= SLOW + 2 && waiting[0] == 0, "{waiting:?}");
        assert_eq!(waiting[waiting.len() - 2..], [10 * MAX_WAITING - 1; 2]);
    }

    #[test]
    async fn messages_that_count_are_never_dropped_amid_others() {
        let (sender, mut outbox) = channel::<(), _>();
        let sent = (0..2 * MAX_WAITING).filter(|number| sender.send(*number)).count();
        assert!(sent == MAX_WAITING && sender.is_read());
        // The queue ends behind those it had room for, although its sender goes on.
        for number in 0..MAX_WAITING {
            assert_eq!(outbox.next().await, Some(number));
        }
        assert_eq!(outbox.next().await, None);
        drop(outbox);
        assert!(!sender.is_read());
    }
}

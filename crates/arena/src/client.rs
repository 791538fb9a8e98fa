//! Connection of a player or a watcher as the arena sees it: a bounded queue of messages, and a way to hang up.
//!
//! The arena never waits for a client. One that does not read its messages is disconnected.

use tokio::{select, sync::mpsc};
use tokio_util::sync::CancellationToken;

use crate::message::Notice;

/// Messages that may wait for one client. A game sends a handful for a move.
const QUEUE: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Client {
    queue: mpsc::Sender<Notice>,
    closed: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: mpsc::Receiver<Notice>,
    closed: CancellationToken,
}

impl Client {
    /// Creates a client whose connection ends, at the latest, with the token.
    pub(crate) fn channel(closed: CancellationToken) -> (Client, Outbox) {
        let (tx, rx) = mpsc::channel(QUEUE);
        (Client { queue: tx, closed: closed.clone() }, Outbox { queue: rx, closed })
    }

    /// Sends a message. A client whose queue is full is disconnected.
    pub(crate) fn tell(&self, notice: Notice) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(notice) {
            tracing::warn!("a client does not read its messages: disconnected");
            self.closed.cancel();
        }
    }

    pub(crate) fn info(&self, text: impl Into<String>) {
        self.tell(Notice::Info(text.into()));
    }

    /// Sends a message that others have caused. It never fills the queue: it is dropped if that is half full.
    pub(crate) fn tell_optional(&self, notice: Notice) {
        if self.queue.capacity() > QUEUE / 2 {
            self.tell(notice);
        }
    }

    pub(crate) fn hang_up(&self, why: impl Into<String>) {
        self.info(why);
        self.close();
    }

    /// Disconnects as soon as the earlier messages are written.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.closed.is_cancelled()
    }

    pub(crate) fn is(&self, other: &Client) -> bool {
        self.queue.same_channel(&other.queue)
    }
}

impl Outbox {
    /// Returns the next message; `None` when the connection is closed and nothing is left. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Notice> {
        select! {
            biased;
            notice = self.queue.recv() => notice,
            () = self.closed.cancelled() => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn drain(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.queue.try_recv().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_disconnects_but_optional_messages_never_fill_it() {
        let (client, mut outbox) = Client::channel(CancellationToken::new());
        for _ in 0..2 * QUEUE {
            client.tell_optional(Notice::Info("hi".into()));
        }
        assert!(client.is_open());
        assert_eq!(outbox.drain().len(), QUEUE / 2);
        (0..QUEUE).for_each(|_| client.info("hi"));
        assert!(client.is_open());
        client.info("hi");
        assert!(!client.is_open());
    }
}

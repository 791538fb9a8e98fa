//! Connection of a player or a watcher as the arena sees it: bounded queues of messages, and a way to hang up.
//!
//! The arena never waits for a client. What others cause (chat, news, clock updates) is dropped for one that does not
//! read, so only what it asked for itself and the moves of its game can fill its queue; then it is disconnected.

use std::sync::{Arc, OnceLock};

use tokio::{select, sync::mpsc};
use tokio_util::sync::CancellationToken;

use crate::message::Notice;

/// Messages that may wait for one client. A game sends a handful for a move.
const QUEUE: usize = 256;
/// Lines of chat that may wait for one client.
const CHAT_QUEUE: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Client {
    queue: mpsc::Sender<Notice>,
    chat: mpsc::Sender<Notice>,
    closed: CancellationToken,
    /// Reason why the arena has thrown the client out.
    fault: Arc<OnceLock<String>>,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: mpsc::Receiver<Notice>,
    chat: mpsc::Receiver<Notice>,
    closed: CancellationToken,
}

impl Client {
    /// Creates a client whose connection ends, at the latest, with the token.
    pub(crate) fn channel(closed: CancellationToken) -> (Client, Outbox) {
        let ((queue, queued), (chat, chats)) = (mpsc::channel(QUEUE), mpsc::channel(CHAT_QUEUE));
        let client = Client { queue, chat, closed: closed.clone(), fault: Arc::default() };
        (client, Outbox { queue: queued, chat: chats, closed })
    }

    /// Sends a message. A client whose queue is full is disconnected.
    pub(crate) fn tell(&self, notice: Notice) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(notice) {
            self.fault.get_or_init(|| "it does not read its messages".to_owned());
            self.closed.cancel();
        }
    }

    /// Sends a line of chat, after everything else; it is dropped if too many wait.
    pub(crate) fn chat(&self, notice: Notice) {
        let _ = self.chat.try_send(notice);
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

    /// Disconnects a client for a mistake of its own, which the connection logs.
    pub(crate) fn throw_out(&self, why: impl Into<String>) {
        let why = why.into();
        self.blame(why.clone());
        self.hang_up(why);
    }

    /// Notes for what mistake of its own a client is about to be disconnected.
    pub(crate) fn blame(&self, why: impl Into<String>) {
        self.fault.get_or_init(|| why.into());
    }

    /// Returns the reason why the arena has thrown the client out, if it has.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
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
            Some(chat) = self.chat.recv() => Some(chat),
            () = self.closed.cancelled() => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn drain(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.queue.try_recv().or_else(|_| self.chat.try_recv()).ok()).collect()
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
        assert!(!client.is_open() && client.fault().is_some());
    }

    #[test]
    async fn chat_comes_last_and_never_fills_the_queue() {
        let (client, mut outbox) = Client::channel(CancellationToken::new());
        (0..10 * QUEUE).for_each(|_| client.chat(Notice::GameAborted { reason: "chat".into() }));
        (0..QUEUE).for_each(|_| client.info("a move"));
        assert!(client.is_open());
        assert!(matches!(outbox.next().await, Some(Notice::Info(_))));
        assert_eq!(outbox.drain().len(), QUEUE - 1 + CHAT_QUEUE);
    }
}

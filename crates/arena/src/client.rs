//! Connection of a player or a watcher as the arena sees it: a bounded queue of messages, and a way to hang up.
//!
//! The arena never waits for a client. A slow client skips what others cause (chat, news, clock updates). Its
//! own requests and the moves of its game can still fill the queue; then it is disconnected.

use std::{
    mem::{Discriminant, discriminant},
    sync::{Arc, OnceLock},
};

use tokio::select;
use tokio_util::sync::CancellationToken;

use crate::{message::Notice, outbox};

#[derive(Clone, Debug)]
pub(crate) struct Client {
    queue: Arc<outbox::Sender<Discriminant<Notice>, Notice>>,
    closed: CancellationToken,
    /// Reason why the arena has thrown the client out.
    fault: Arc<OnceLock<String>>,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: outbox::Outbox<Discriminant<Notice>, Notice>,
    closed: CancellationToken,
}

impl Client {
    /// Creates a client whose connection ends, at the latest, with the token.
    pub(crate) fn channel(closed: CancellationToken) -> (Client, Outbox) {
        let (sender, queue) = outbox::channel();
        let client = Client { queue: Arc::new(sender), closed: closed.clone(), fault: Arc::default() };
        (client, Outbox { queue, closed })
    }

    /// Sends a message. A client whose queue is full is disconnected.
    pub(crate) fn tell(&self, notice: Notice) {
        if !self.queue.send(notice) {
            self.fault.get_or_init(|| "it does not read its messages".to_owned());
            self.closed.cancel();
        }
    }

    pub(crate) fn info(&self, text: impl Into<String>) {
        self.tell(Notice::Info(text.into()));
    }

    /// Sends a message that others have caused. It never fills the queue: a slow client gets the latest of its kind.
    pub(crate) fn tell_optional(&self, notice: Notice) {
        self.queue.send_latest(discriminant(&notice), notice);
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
        Arc::ptr_eq(&self.queue, &other.queue)
    }
}

impl Outbox {
    /// Returns the next message; `None` when the connection is closed and nothing is left. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Notice> {
        select! {
            biased;
            notice = self.queue.next() => notice,
            () = self.closed.cancelled() => None,
        }
    }

    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn drain(&mut self) -> Vec<Notice> {
        self.queue.drain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::{MAX_WAITING, SLOW};

    #[test]
    fn a_full_queue_disconnects_but_optional_messages_never_fill_it() {
        let (client, mut outbox) = Client::channel(CancellationToken::new());
        for _ in 0..2 * MAX_WAITING {
            client.tell_optional(Notice::Info("hi".into()));
            client.tell_optional(Notice::GameAborted { reason: "chat".into() });
        }
        assert!(client.is_open());
        assert!(outbox.drain().len() <= SLOW + 1);
        (0..MAX_WAITING).for_each(|_| client.info("hi"));
        assert!(client.is_open());
        client.info("hi");
        assert!(!client.is_open() && client.fault().is_some());
    }
}

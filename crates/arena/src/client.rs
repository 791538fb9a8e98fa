//! A connection as the referee sees it: a bounded queue of messages, and a way to hang up.
//!
//! Nobody here ever waits for a client. Whoever does not read what they are told is disconnected.

use std::{pin::pin, time::Duration};

use tokio::{select, sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use zeitnot_net::LineWriter;
use zeitnot_wire::{Message, contest::FromServer};

use super::delay::{Delay, Way};

/// Messages that may wait for one client. A game sends a handful for a move.
const QUEUE: usize = 256;

/// How long a connection that is closed may take to send what was queued before.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The referee's end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Client {
    queue: mpsc::Sender<FromServer>,
    closed: CancellationToken,
}

/// The connection's end: what is to be written.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::Receiver<FromServer>,
    closed: CancellationToken,
    way: Way<FromServer>,
}

impl Client {
    /// A client for a connection that ends, at the latest, with the token; what it is told travels late.
    pub fn channel(closed: CancellationToken, delay: Delay) -> (Client, Outbox) {
        let (tx, rx) = mpsc::channel(QUEUE);
        (Client { queue: tx, closed: closed.clone() }, Outbox { queue: rx, closed, way: delay.way() })
    }

    /// Sends a message. A client whose queue is full is disconnected.
    pub fn tell(&self, message: FromServer) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(message) {
            tracing::warn!("a client does not read what it is sent: disconnected");
            self.closed.cancel();
        }
    }

    /// Sends a line for people to read.
    pub fn info(&self, text: impl Into<String>) {
        self.tell(FromServer::Info { text: text.into() });
    }

    /// Sends what is nice to know. Others caused it, so it never fills the queue: dropped if half full.
    pub fn gossip(&self, message: FromServer) {
        if self.queue.capacity() > QUEUE / 2 {
            self.tell(message);
        }
    }

    /// Says why, and disconnects.
    pub fn hang_up(&self, why: impl Into<String>) {
        self.info(why);
        self.close();
    }

    /// Disconnects when what was said before is written.
    pub fn close(&self) {
        self.closed.cancel();
    }

    /// Waits until somebody closes the connection.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Can anything said still arrive?
    pub fn is_open(&self) -> bool {
        !self.closed.is_cancelled()
    }

    /// Do both lead to the same connection?
    pub fn is(&self, other: &Client) -> bool {
        self.queue.same_channel(&other.queue)
    }
}

impl Outbox {
    /// Writes until the connection is closed from either side.
    pub async fn run(mut self, mut writer: LineWriter) {
        {
            let closed = self.closed.clone();
            let mut writing = pin!(self.write(&mut writer));
            let done = select! {
                () = &mut writing => true,
                () = closed.cancelled() => false,
            };
            if !done {
                let _ = timeout(LAST_WORDS, writing).await;
            }
            closed.cancel();
        }
        writer.close().await;
    }

    /// Writes what is queued; ends when the connection is closed and nothing is left, or cannot be written.
    async fn write(&mut self, writer: &mut LineWriter) {
        let mut line = String::new();
        loop {
            let message = select! {
                biased;
                (_, message) = self.way.arrive() => message,
                Some(message) = self.queue.recv(), if self.way.has_room() => {
                    self.way.send(message);
                    continue;
                }
                () = self.closed.cancelled(), if self.way.is_empty() => return,
            };
            line.clear();
            message.print(&mut line);
            if let Err(error) = writer.send(&line).await {
                tracing::debug!(%error, "a client cannot be written to");
                return;
            }
        }
    }

    /// The next message, for those who are no connection; `None`: closed, and nothing is left.
    pub async fn next(&mut self) -> Option<FromServer> {
        select! {
            biased;
            message = self.queue.recv() => message,
            () = self.closed.cancelled() => None,
        }
    }

    /// What was told since the last call.
    #[cfg(test)]
    pub fn drain(&mut self) -> Vec<String> {
        let print = |message: FromServer| {
            let mut line = String::new();
            message.print(&mut line);
            line
        };
        std::iter::from_fn(|| self.queue.try_recv().ok()).map(print).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_disconnects_but_gossip_never_fills_it() {
        let (client, mut outbox) = Client::channel(CancellationToken::new(), Delay::default());
        for _ in 0..2 * QUEUE {
            client.gossip(FromServer::Info { text: "hi".into() });
        }
        assert!(!outbox.closed.is_cancelled());
        assert_eq!(outbox.drain().len(), QUEUE / 2);
        (0..QUEUE).for_each(|_| client.info("hi"));
        assert!(!outbox.closed.is_cancelled());
        client.info("hi");
        assert!(outbox.closed.is_cancelled());
    }
}

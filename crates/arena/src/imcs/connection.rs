//! Connection to a client, which moves from the guest's task to the game's.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;

use zeitnot_net::{Incoming, LineReader, LineWriter, NetError};
use zeitnot_wire::{Message, imcs::FromServer};

use crate::{paced::PacedReader, places::Place};

pub(super) const STOPPING: &str = "server shutdown, come back later";
/// Time for which a client is still read after the close, so that our last words are not lost with its unread ones.
const LINGER: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Connection {
    reader: PacedReader,
    writer: LineWriter,
    /// Line that was read ahead.
    ahead: Option<Incoming>,
    pub(super) place: Place,
}

/// Line, or the end of a connection.
#[derive(Debug)]
pub(super) enum Heard {
    Line(Incoming),
    /// The client has hung up.
    Closed,
    /// The connection broke down, which need not be the client's will.
    Lost,
}

impl Connection {
    pub(super) fn new((reader, writer): (LineReader, LineWriter), place: Place) -> Self {
        Connection { reader: PacedReader::new(reader), writer, ahead: None, place }
    }

    pub(super) async fn say(&mut self, text: &str) -> Result<(), NetError> {
        self.writer.send_text(text).await
    }

    /// Reads the next line. Cancel safe.
    pub(super) async fn hear(&mut self) -> Heard {
        if let Some(line) = self.ahead.take() {
            return Heard::Line(line);
        }
        match self.reader.next().await {
            Ok(Some(line)) => Heard::Line(line),
            Ok(None) => Heard::Closed,
            Err(error) => {
                tracing::debug!(%error, "a connection is lost");
                Heard::Lost
            }
        }
    }

    /// Returns whether the client is known to have hung up.
    pub(super) fn is_gone(&mut self) -> bool {
        if self.ahead.is_some() {
            return false;
        }
        match self.reader.next().now_or_never() {
            None => false,
            Some(Ok(Some(line))) => {
                self.ahead = Some(line);
                false
            }
            Some(_) => true,
        }
    }

    /// Hangs up when everything is written.
    pub(super) async fn close(self) {
        let Connection { mut reader, writer, .. } = self;
        writer.close().await;
        let _ = timeout(LINGER, async { while let Ok(Some(_)) = reader.next().await {} }).await;
    }
}

pub(super) fn lines(messages: impl IntoIterator<Item = FromServer>) -> String {
    messages.into_iter().map(|message| message.to_line() + "\r\n").collect()
}

pub(super) fn reply(code: u16, text: impl Into<String>) -> String {
    lines([FromServer::Reply { code, text: text.into() }])
}

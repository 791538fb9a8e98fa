//! Connection to a client: lines in and out.

use std::collections::VecDeque;

use futures_util::FutureExt;
use zeitnot_net::{Incoming, LineReader, LineWriter, NetError};
use zeitnot_web::places::Place;
use zeitnot_wire::{Message, imcs::FromServer};

use crate::paced::PacedReader;

pub(super) const STOPPING: &str = "server shutdown, come back later";
/// Lines that may wait to be read while their client waits for something. Before a game there is nothing to say.
const MAX_AHEAD: usize = 16;

#[derive(Debug)]
pub(super) struct Connection {
    reader: PacedReader,
    writer: LineWriter,
    /// Lines that were read ahead.
    ahead: VecDeque<Incoming>,
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
        Connection { reader: PacedReader::new(reader), writer, ahead: VecDeque::new(), place }
    }

    pub(super) async fn say(&mut self, text: &str) -> Result<(), NetError> {
        self.writer.send_text(text).await
    }

    /// Reads the next line. Cancel safe.
    pub(super) async fn hear(&mut self) -> Heard {
        if let Some(line) = self.ahead.pop_front() {
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

    /// Reads ahead until the client has hung up, or has said more than it may. Cancel safe.
    pub(super) async fn gone(&mut self) {
        while self.ahead.len() < MAX_AHEAD {
            match self.reader.next().await {
                Ok(Some(line)) => self.ahead.push_back(line),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Returns whether the client is known to have hung up.
    pub(super) fn is_gone(&mut self) -> bool {
        self.gone().now_or_never().is_some()
    }

    /// Hangs up when everything is written.
    pub(super) async fn close(self) {
        let Connection { mut reader, writer, .. } = self;
        writer.close().await;
        reader.linger().await;
    }
}

pub(super) fn lines(messages: impl IntoIterator<Item = FromServer>) -> String {
    messages.into_iter().map(|message| message.to_line() + "\r\n").collect()
}

pub(super) fn reply(code: u16, text: impl Into<String>) -> String {
    lines([FromServer::Reply { code, text: text.into() }])
}

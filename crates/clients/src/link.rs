//! Connection as two tasks, so that a stalled write never keeps the session from reading, and a line's arrival is
//! timed even while the session is busy. A line is written whole or not at all.

use std::time::{Duration, Instant};

use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;
use zeitnot_net::{BadLine, Incoming, LineReader, LineWriter, NetError};
use zeitnot_seat::Turn;
use zeitnot_wire::Message;

/// Capacity for lines read ahead of the session; beyond it the socket waits.
const MAX_UNREAD: usize = 64;
/// Capacity for lines waiting to be written. Clients send little, so a full queue means that the server does not read.
const MAX_UNSENT: usize = 16;
/// Limit for writing the rest when leaving.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) enum LinkEvent {
    Line(Incoming),
    /// The answer to this turn was handed to the socket.
    Sent {
        turn: Turn,
        at: Instant,
    },
    /// The connection is unusable; this is the last event.
    Closed(LinkError),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("the server closed the connection")]
    Closed,
    #[error("the server no longer reads our lines")]
    Stalled,
    #[error(transparent)]
    Net(#[from] NetError),
}

#[derive(Debug)]
struct Outgoing {
    line: String,
    answers: Option<Turn>,
}

/// Session's end of a connection.
#[derive(Debug)]
pub(crate) struct Link {
    events: mpsc::Receiver<LinkEvent>,
    outbox: mpsc::Sender<Outgoing>,
    writer: JoinHandle<()>,
    _reader: AbortOnDropHandle<()>,
}

impl Link {
    /// Starts the two tasks. They end with the connection, or when the link is closed or dropped.
    pub(crate) fn new(reader: LineReader, writer: LineWriter) -> Link {
        let (to_session, events) = mpsc::channel(MAX_UNREAD);
        let (outbox, lines) = mpsc::channel(MAX_UNSENT);
        let writer = tokio::spawn(write(writer, lines, to_session.clone()));
        let reader = AbortOnDropHandle::new(tokio::spawn(read(reader, to_session)));
        Link { events, outbox, writer, _reader: reader }
    }

    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> LinkEvent {
        self.events.recv().await.unwrap_or(LinkEvent::Closed(LinkError::Closed))
    }

    /// Queues a line without waiting. If it answers a turn, [`LinkEvent::Sent`] tells when it left.
    pub(crate) fn send(&self, line: String, answers: Option<Turn>) -> Result<(), LinkError> {
        self.outbox.try_send(Outgoing { line, answers }).map_err(|error| match error {
            TrySendError::Full(_) => LinkError::Stalled,
            TrySendError::Closed(_) => LinkError::Closed,
        })
    }

    /// Writes the queued lines and closes, within a time limit.
    pub(crate) async fn close(self) {
        let Link { events, outbox, mut writer, _reader } = self;
        drop((events, outbox));
        if timeout(CLOSE_TIMEOUT, &mut writer).await.is_err() {
            writer.abort();
        }
    }
}

/// Reads a message of a protocol from a line, or returns why there is none.
pub(crate) fn parse<M: Message>(line: Result<String, BadLine>) -> Result<M, String> {
    let line = line.map_err(|bad| bad.to_string())?;
    M::parse(&line).map_err(|error| error.to_string())
}

async fn read(mut reader: LineReader, session: mpsc::Sender<LinkEvent>) {
    loop {
        let event = match reader.next().await {
            Ok(Some(line)) => LinkEvent::Line(line),
            Ok(None) => LinkEvent::Closed(LinkError::Closed),
            Err(error) => LinkEvent::Closed(error.into()),
        };
        let last = matches!(event, LinkEvent::Closed(_));
        if session.send(event).await.is_err() || last {
            return;
        }
    }
}

async fn write(
    mut writer: LineWriter,
    mut lines: mpsc::Receiver<Outgoing>,
    session: mpsc::Sender<LinkEvent>,
) {
    while let Some(Outgoing { line, answers }) = lines.recv().await {
        if let Err(error) = writer.send(&line).await {
            let _ = session.send(LinkEvent::Closed(error.into())).await;
            return;
        }
        if let Some(turn) = answers {
            // A session that no longer reads events may still have lines to write.
            let _ = session.send(LinkEvent::Sent { turn, at: Instant::now() }).await;
        }
    }
    writer.close().await;
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::AsyncWriteExt,
        net::{TcpListener, TcpStream},
    };
    use zeitnot_net::over_tcp;

    use super::*;

    #[test]
    async fn a_stalled_write_delays_neither_reading_nor_leaving() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        let (reader, writer) = over_tcp(stream).unwrap();
        let mut link = Link::new(reader, writer);
        // More than the system buffers, to a peer that reads nothing.
        link.send("x".repeat(32 << 20), Some(Turn(1))).unwrap();
        for said in ["one", "two"] {
            peer.write_all(format!("{said}\n").as_bytes()).await.unwrap();
            let LinkEvent::Line(incoming) = link.next().await else { panic!() };
            assert_eq!(incoming.line.as_deref(), Ok(said));
        }
        while link.send("more".into(), None).is_ok() {}
        assert!(matches!(link.send("more".into(), None), Err(LinkError::Stalled)));
        link.close().await;
    }
}

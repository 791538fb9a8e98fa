//! A connection as two tasks, so that a write that stalls never keeps us from reading, and a line's
//! arrival is timed even while its session is busy. A line being written is never cut short.

use std::time::{Duration, Instant};

use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

use zeitnot_net::{Incoming, LineReader, LineWriter, NetError};
use zeitnot_seat::Turn;

/// Lines read ahead of the session; then the socket has to wait.
const INBOX: usize = 64;
/// Lines waiting to be written. Clients say little: one that has so much unsaid is not listened to.
const OUTBOX: usize = 16;
/// What is left unwritten when leaving gets this long.
const GOODBYE: Duration = Duration::from_secs(1);

/// What comes from a connection.
#[derive(Debug)]
pub(super) enum Heard {
    /// A line.
    Line(Incoming),
    /// The answer to this turn was handed to the socket.
    Sent { turn: Turn, at: Instant },
    /// Nothing more will come.
    Lost(LinkError),
}

/// Why a connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("the server closed the connection")]
    Closed,
    #[error("the server does not take our lines any more")]
    Stalled,
    #[error(transparent)]
    Net(#[from] NetError),
}

#[derive(Debug)]
struct Outgoing {
    line: String,
    /// Whose answer the line is, if it is one.
    answers: Option<Turn>,
}

/// The session's end of a connection.
#[derive(Debug)]
pub(super) struct Link {
    inbox: mpsc::Receiver<Heard>,
    outbox: mpsc::Sender<Outgoing>,
    writer: JoinHandle<()>,
    _reader: AbortOnDropHandle<()>,
}

impl Link {
    /// Starts the two tasks. They end with the connection, or when the link is closed or dropped.
    pub(super) fn new(reader: LineReader, writer: LineWriter) -> Link {
        let (to_session, inbox) = mpsc::channel(INBOX);
        let (outbox, lines) = mpsc::channel(OUTBOX);
        let writer = tokio::spawn(write(writer, lines, to_session.clone()));
        let reader = AbortOnDropHandle::new(tokio::spawn(read(reader, to_session)));
        Link { inbox, outbox, writer, _reader: reader }
    }

    /// What comes next. Cancel safe. After [`Heard::Lost`] there is nothing to wait for.
    pub(super) async fn next(&mut self) -> Heard {
        self.inbox.recv().await.unwrap_or(Heard::Lost(LinkError::Closed))
    }

    /// Puts a line on its way, without waiting. If it answers a turn, [`Heard::Sent`] will tell when it left.
    pub(super) fn send(&self, line: String, answers: Option<Turn>) -> Result<(), LinkError> {
        self.outbox.try_send(Outgoing { line, answers }).map_err(|error| match error {
            TrySendError::Full(_) => LinkError::Stalled,
            TrySendError::Closed(_) => LinkError::Closed,
        })
    }

    /// Writes what is still to be written, for a moment, and says goodbye.
    pub(super) async fn close(self) {
        let Link { inbox, outbox, mut writer, _reader } = self;
        drop((inbox, outbox));
        if timeout(GOODBYE, &mut writer).await.is_err() {
            writer.abort();
        }
    }
}

async fn read(mut reader: LineReader, session: mpsc::Sender<Heard>) {
    loop {
        let heard = match reader.next().await {
            Ok(Some(line)) => Heard::Line(line),
            Ok(None) => Heard::Lost(LinkError::Closed),
            Err(error) => Heard::Lost(error.into()),
        };
        let last = matches!(heard, Heard::Lost(_));
        if session.send(heard).await.is_err() || last {
            return;
        }
    }
}

async fn write(mut writer: LineWriter, mut lines: mpsc::Receiver<Outgoing>, session: mpsc::Sender<Heard>) {
    while let Some(Outgoing { line, answers }) = lines.recv().await {
        if let Err(error) = writer.send(&line).await {
            let _ = session.send(Heard::Lost(error.into())).await;
            return;
        }
        if let Some(turn) = answers {
            // A session that no longer listens may still have something to say.
            let _ = session.send(Heard::Sent { turn, at: Instant::now() }).await;
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

    use super::*;
    use zeitnot_net::over_tcp;

    #[tokio::test]
    async fn a_write_that_stalls_does_not_keep_us_from_reading_nor_from_leaving() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        let (reader, writer) = over_tcp(stream).unwrap();
        let mut link = Link::new(reader, writer);
        // More than the system buffers, to a peer that reads nothing.
        link.send("x".repeat(32 << 20), Some(Turn(1))).unwrap();
        for said in ["one", "two"] {
            peer.write_all(format!("{said}\n").as_bytes()).await.unwrap();
            let Heard::Line(incoming) = link.next().await else { panic!() };
            assert_eq!(incoming.line.as_deref(), Ok(said));
        }
        while link.send("more".into(), None).is_ok() {}
        assert!(matches!(link.send("more".into(), None), Err(LinkError::Stalled)));
        link.close().await;
    }
}

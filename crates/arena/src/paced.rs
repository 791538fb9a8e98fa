//! Lines of clients, read at a bounded pace: who writes faster than any game needs has to wait, and delays nobody else.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use zeitnot_net::{Incoming, LineReader, NetError};

/// Lines that a client may send at once …
const BURST: u32 = 50;
/// … and the interval of further ones. A move every ten milliseconds is far below it.
const INTERVAL: Duration = Duration::from_millis(2);

/// Reading half of a client's connection.
#[derive(Debug)]
pub(crate) struct PacedReader {
    lines: LineReader,
    /// The time that the lines so far take at the pace of the long run.
    spent_until: Instant,
}

impl PacedReader {
    pub(crate) fn new(lines: LineReader) -> PacedReader {
        PacedReader { lines, spent_until: Instant::now() }
    }

    /// Returns the next line, not before it is due; `None` after the peer closed. Cancel safe.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub(crate) async fn next(&mut self) -> Result<Option<Incoming>, NetError> {
        let due = self.spent_until.checked_sub(BURST * INTERVAL);
        if let Some(due) = due.filter(|due| *due > Instant::now()) {
            sleep_until(due).await;
        }
        let line = self.lines.next().await?;
        self.spent_until = self.spent_until.max(Instant::now()) + INTERVAL;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::AsyncWriteExt,
        net::{TcpListener, TcpStream},
    };

    use super::*;

    #[tokio::test]
    async fn a_flood_is_read_slowly_and_a_move_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (lines, _writer) = zeitnot_net::over_tcp(listener.accept().await.unwrap().0).unwrap();
        let (mut reader, since) = (PacedReader::new(lines), Instant::now());
        client.write_all("SAY bob hi\n".repeat(2 * BURST as usize).as_bytes()).await.unwrap();
        for _ in 0..2 * BURST {
            reader.next().await.unwrap();
        }
        assert!(since.elapsed() >= (BURST - 1) * INTERVAL, "{:?}", since.elapsed());
    }
}

//! Lines of clients, read at a bounded pace: who writes faster than any game needs has to wait, and delays nobody else.

use std::time::Duration;

use tokio::time::sleep_until;
use zeitnot_net::{Incoming, LineReader, NetError, Rate, Ration};

/// Lines of a client. A move every ten milliseconds is far below it.
const LINES: Rate = Rate { burst: 50, interval: Duration::from_millis(2) };

/// Reading half of a client's connection.
#[derive(Debug)]
pub(crate) struct PacedReader {
    lines: LineReader,
    ration: Ration,
}

impl PacedReader {
    pub(crate) fn new(lines: LineReader) -> PacedReader {
        PacedReader { lines, ration: Ration::new(LINES) }
    }

    /// Returns the next line, not before it is due; `None` after the peer closed. Cancel safe.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub(crate) async fn next(&mut self) -> Result<Option<Incoming>, NetError> {
        if let Some(due) = self.ration.due() {
            sleep_until(due).await;
        }
        let line = self.lines.next().await?;
        self.ration.spend();
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::AsyncWriteExt,
        net::{TcpListener, TcpStream},
        time::Instant,
    };

    use super::*;

    #[test]
    async fn a_flood_is_read_slowly_and_a_move_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (lines, _writer) = zeitnot_net::over_tcp(listener.accept().await.unwrap().0).unwrap();
        let (mut reader, since) = (PacedReader::new(lines), Instant::now());
        client.write_all("SAY bob hi\n".repeat(2 * LINES.burst as usize).as_bytes()).await.unwrap();
        for _ in 0..2 * LINES.burst {
            reader.next().await.unwrap();
        }
        assert!(since.elapsed() >= LINES.burst * LINES.interval, "{:?}", since.elapsed());
    }
}

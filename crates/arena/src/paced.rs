//! Lines of clients, read at a bounded pace: who writes faster than any game needs has to wait, and delays nobody else.
//!
//! Any page can make a browser send an HTTP request with a text of the page's choice to a port for lines. Such a request
//! closes its connection before that text is read.

use std::time::Duration;

use tokio::time::{sleep_until, timeout};
use zeitnot_net::{Incoming, LineReader, NetError, Rate, Ration};

/// Lines of a client. A move every ten milliseconds is far below it.
const LINES: Rate = Rate { burst: 50, interval: Duration::from_millis(2) };
/// Time for which a client is still read after the close, so that our last words are not lost with its unread ones.
const LINGER: Duration = Duration::from_millis(500);

/// Error that makes a connection unusable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("This port takes lines of text over TCP: WebSocket clients connect to the arena's other port")]
    HttpRequest,
}

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
    /// [`ReadError`]: the connection is unusable.
    pub(crate) async fn next(&mut self) -> Result<Option<Incoming>, ReadError> {
        if let Some(due) = self.ration.due() {
            sleep_until(due).await;
        }
        let line = self.lines.next().await?;
        self.ration.spend();
        match &line {
            Some(Incoming { line: Ok(text), .. }) if is_http_request(text) => Err(ReadError::HttpRequest),
            _ => Ok(line),
        }
    }

    /// Reads on for a while after the close.
    pub(crate) async fn linger(&mut self) {
        let _ = timeout(LINGER, async { while let Ok(Some(_)) = self.next().await {} }).await;
    }
}

/// Returns whether a line begins an HTTP/1 request of any method: `POST / HTTP/1.1` (RFC 9112, 3).
fn is_http_request(line: &str) -> bool {
    let words: Vec<_> = line.split_ascii_whitespace().collect();
    let &[method, target, version] = words.as_slice() else { return false };
    let is_target = target.starts_with('/') || target.contains("://") || target == "*" || method == "CONNECT";
    is_target && version.starts_with("HTTP/")
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
    fn requests_are_told_from_lines() {
        for request in [
            "GET / HTTP/1.1",
            "POST /a?b HTTP/1.0",
            "  PATCH  /  HTTP/1.1\r",
            "OPTIONS * HTTP/1.1",
            "GET http://a/ HTTP/1.1",
            "CONNECT a:443 HTTP/1.1",
            "say /x HTTP/1.1",
        ] {
            assert!(is_http_request(request), "{request}");
        }
        for line in ["SAY bob HTTP/1.1", "SAY bob why / HTTP/1.1", "JOIN class /x", "GET /", "offer W 60", ""]
        {
            assert!(!is_http_request(line), "{line}");
        }
    }

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

//! Connections over TCP and WebSocket, split into a reader and a writer of lines.

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        error::ProtocolError,
        handshake::{client::Request, server},
        http::{HeaderMap, HeaderValue, StatusCode, Uri, header::CONNECTION},
        protocol::WebSocketConfig,
    },
};
use tokio_util::codec::FramedRead;

use crate::{
    codec::{BadLine, LineCodec, MAX_LINE},
    quickack::QuickAck,
};

type WebSocket = WebSocketStream<QuickAck<TcpStream>>;

/// A peer that does not take a line within this time is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Idle time before the first keepalive probe.
const KEEPALIVE_TIME: Duration = Duration::from_secs(30);
/// Time between further probes, until the kernel gives up.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// First bytes of a WebSocket handshake.
const HANDSHAKE: &[u8] = b"GET ";
/// Answer to a client that begins otherwise.
const NO_HANDSHAKE: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
    This port speaks WebSocket (ws://). Lines of text go to the server's TCP port (tcp://).\n";
/// Bytes that such a client may still send before it reads the answer.
const MAX_UNREAD: u64 = 1 << 16;

/// Error of a connection.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// Error of the operating system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Error of the WebSocket layer: a failed handshake, a frame that is too large or not UTF-8.
    #[error("WebSocket: {0}")]
    WebSocket(#[from] Box<tungstenite::Error>),
    /// The handshake was refused.
    #[error("the server answers HTTP {0}")]
    Http(StatusCode),
    /// The peer's first bytes are not HTTP.
    #[error("the other side does not speak WebSocket")]
    NotWebSocket,
    /// The peer closed before the handshake was done.
    #[error("the other side closed the connection during the WebSocket handshake")]
    NoHandshake,
    /// Time-out.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
}

impl From<tungstenite::Error> for NetError {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Io(io) => NetError::Io(io),
            tungstenite::Error::Http(answer) => NetError::Http(answer.status()),
            tungstenite::Error::Protocol(ProtocolError::HttparseError(_)) => NetError::NotWebSocket,
            tungstenite::Error::Protocol(ProtocolError::HandshakeIncomplete) => NetError::NoHandshake,
            other => NetError::WebSocket(Box::new(other)),
        }
    }
}

/// Sends packets without delay, and lets the kernel detect a dead peer even where a protocol is silent for hours.
fn tune(stream: &TcpStream) -> io::Result<()> {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_TIME).with_interval(KEEPALIVE_INTERVAL);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
    stream.set_nodelay(true)
}

/// Takes over a TCP connection: lines end with `\n` or `\r\n`, empty ones are skipped.
///
/// # Errors
/// [`NetError::Io`] if the socket is dead already.
pub fn over_tcp(stream: TcpStream) -> Result<(LineReader, LineWriter), NetError> {
    split_tcp(stream, LineCodec::plain())
}

/// Takes over a TCP connection that may come from telnet: lines may also end with `\r\0`, and empty ones count.
///
/// # Errors
/// [`NetError::Io`] if the socket is dead already.
pub fn over_telnet(stream: TcpStream) -> Result<(LineReader, LineWriter), NetError> {
    split_tcp(stream, LineCodec::telnet())
}

pub(crate) fn split_tcp(stream: TcpStream, codec: LineCodec) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let (read, socket) = stream.into_split();
    let line_end = char::from(codec.end);
    let lines = FramedRead::new(QuickAck::new(read), codec);
    Ok((LineReader(Reader::Tcp(lines)), LineWriter::new(Writer::Tcp { socket, line_end })))
}

/// Takes over a TCP connection whose peer asks for WebSocket: one message per text frame. A handshake that `admit` does
/// not like gets its answer.
///
/// # Errors
/// [`NetError`]; [`NetError::TimedOut`] if the handshake is not done within `limit`; [`NetError::NotWebSocket`] if the
/// peer sends something else, which is answered; [`NetError::Http`] if it is not admitted.
pub async fn accept_ws(
    stream: TcpStream,
    limit: Duration,
    admit: impl FnOnce(&HeaderMap, &Uri) -> Result<(), (StatusCode, String)> + Unpin,
) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let accepting = async {
        let mut first = [0; HANDSHAKE.len()];
        let length = stream.peek(&mut first).await?;
        if !HANDSHAKE.starts_with(&first[..length]) {
            refuse(stream).await?;
            return Err(NetError::NotWebSocket);
        }
        let stream = QuickAck::new(stream);
        let admission = Admission(admit);
        Ok(tokio_tungstenite::accept_hdr_async_with_config(stream, admission, Some(ws_config())).await?)
    };
    let socket = timeout(limit, accepting).await.map_err(|_| NetError::TimedOut(limit))??;
    // The frames of the first server of this kind end so, and clients may rely on it.
    Ok(split_ws(socket, "\n"))
}

/// Decides about a handshake.
struct Admission<F>(F);

impl<F> server::Callback for Admission<F>
where
    F: FnOnce(&HeaderMap, &Uri) -> Result<(), (StatusCode, String)>,
{
    fn on_request(
        self,
        request: &server::Request,
        answer: server::Response,
    ) -> Result<server::Response, server::ErrorResponse> {
        let admitted = (self.0)(request.headers(), request.uri());
        admitted.map(|()| answer).map_err(|(status, why)| not_admitted(status, &why))
    }
}

fn not_admitted(status: StatusCode, why: &str) -> server::ErrorResponse {
    let mut answer = server::ErrorResponse::new(Some(format!("{why}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Tells a client of another kind where it is. What it sends is read, as an unread rest would reset the connection.
async fn refuse(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(NO_HANDSHAKE.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = stream.take(MAX_UNREAD);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    Ok(())
}

pub(crate) async fn connect_ws(
    request: Request,
    stream: TcpStream,
    max_message: usize,
) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let stream = QuickAck::new(stream);
    let config = ws_config().max_message_size(Some(max_message)).max_frame_size(Some(max_message));
    let handshake = tokio_tungstenite::client_async_with_config(request, stream, Some(config));
    Ok(split_ws(handshake.await?.0, ""))
}

fn ws_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_LINE))
        .max_frame_size(Some(MAX_LINE))
        .read_buffer_size(MAX_LINE)
        .max_write_buffer_size(64 * MAX_LINE)
        .write_buffer_size(0)
}

fn split_ws(socket: WebSocket, line_end: &'static str) -> (LineReader, LineWriter) {
    let (sink, stream) = socket.split();
    (
        LineReader(Reader::Ws { stream, pending: VecDeque::new() }),
        LineWriter::new(Writer::Ws { sink, line_end }),
    )
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The line without its end, or why it cannot be read.
    pub line: Result<String, BadLine>,
    /// Arrival of its bytes.
    pub read_at: Instant,
}

/// Reading half of a connection.
#[derive(Debug)]
pub struct LineReader(Reader);

#[derive(Debug)]
enum Reader {
    Tcp(FramedRead<QuickAck<OwnedReadHalf>, LineCodec>),
    Ws { stream: SplitStream<WebSocket>, pending: VecDeque<Incoming> },
}

impl LineReader {
    /// Returns the next line, or `None` after the peer closed. Cancel safe.
    ///
    /// A line that the close cut off is never returned.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub async fn next(&mut self) -> Result<Option<Incoming>, NetError> {
        match &mut self.0 {
            Reader::Tcp(lines) => {
                let line = lines.next().await.transpose()?;
                Ok(line.map(|line| Incoming { line, read_at: Instant::now() }))
            }
            Reader::Ws { stream, pending } => loop {
                if let Some(line) = pending.pop_front() {
                    return Ok(Some(line));
                }
                let Some(message) = stream.next().await.transpose()? else { return Ok(None) };
                let read_at = Instant::now();
                let text = match &message {
                    Message::Text(text) => Ok(text.as_str()),
                    Message::Binary(bytes) => std::str::from_utf8(bytes).map_err(|_| BadLine::NotUtf8),
                    Message::Close(_) => return Ok(None),
                    Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
                };
                match text {
                    Err(bad) => pending.push_back(Incoming { line: Err(bad), read_at }),
                    Ok(text) => {
                        let lines = text.lines().filter(|line| !line.trim().is_empty());
                        pending.extend(lines.map(|line| Incoming { line: Ok(line.to_owned()), read_at }));
                    }
                }
            },
        }
    }
}

/// Writing half of a connection.
#[derive(Debug)]
pub struct LineWriter {
    half: Writer,
    timeout: Duration,
}

#[derive(Debug)]
enum Writer {
    Tcp {
        socket: OwnedWriteHalf,
        line_end: char,
    },
    /// The end of a frame is that of its line; `line_end` comes on top.
    Ws {
        sink: SplitSink<WebSocket, Message>,
        line_end: &'static str,
    },
}

impl LineWriter {
    fn new(half: Writer) -> LineWriter {
        LineWriter { half, timeout: WRITE_TIMEOUT }
    }

    /// Sets how long a peer may take for what is sent to it; by default 10 s.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Sends one line and its end, in one write or as one text frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub async fn send(&mut self, line: &str) -> Result<(), NetError> {
        let text = match &self.half {
            Writer::Tcp { line_end, .. } => format!("{line}{line_end}"),
            Writer::Ws { line_end, .. } => format!("{line}{line_end}"),
        };
        self.send_text(&text).await
    }

    /// Sends text as it is, in one write or as one text frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub async fn send_text(&mut self, text: &str) -> Result<(), NetError> {
        let write = async {
            match &mut self.half {
                Writer::Tcp { socket, .. } => Ok(socket.write_all(text.as_bytes()).await?),
                Writer::Ws { sink, .. } => Ok(sink.send(Message::text(text)).await?),
            }
        };
        timeout(self.timeout, write).await.map_err(|_| NetError::TimedOut(self.timeout))?
    }

    /// Closes the connection as the transport wants it. Errors are ignored.
    pub async fn close(mut self) {
        let goodbye = async {
            match &mut self.half {
                Writer::Tcp { socket, .. } => drop(socket.shutdown().await),
                Writer::Ws { sink, .. } => drop(sink.close().await),
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, goodbye).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Reads these bytes, followed by a close.
    async fn read_all(bytes: &'static [u8]) -> Vec<Result<String, BadLine>> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let writer = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(bytes).await.unwrap();
        });
        let (mut reader, _keep) = over_tcp(stream).unwrap();
        let mut lines = Vec::new();
        while let Some(incoming) = reader.next().await.unwrap() {
            lines.push(incoming.line);
        }
        writer.await.unwrap();
        lines
    }

    #[test]
    async fn reads_lines_and_drops_half_ones() {
        let lines = read_all(b"one\r\n\n  \ntwo\nthr").await;
        assert_eq!(lines, [Ok("one".to_owned()), Ok("two".to_owned())]);
    }

    #[test]
    async fn continues_after_bytes_that_are_not_text() {
        let lines = read_all(b"one\n\xff\xfe\ntwo\n").await;
        assert_eq!(lines, [Ok("one".to_owned()), Err(BadLine::NotUtf8), Ok("two".to_owned())]);
    }

    #[test]
    async fn continues_after_a_line_that_is_too_long() {
        let long: &'static [u8] =
            Box::leak([&vec![b'x'; 10 << 20][..], b"\ntwo\n"].concat().into_boxed_slice());
        assert_eq!(read_all(long).await, [Err(BadLine::TooLong(MAX_LINE)), Ok("two".to_owned())]);
    }
}

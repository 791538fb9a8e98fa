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
    io::AsyncWriteExt,
    net::{TcpStream, tcp::OwnedWriteHalf},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message, handshake::client::Request, http::StatusCode, protocol::WebSocketConfig},
};
use tokio_util::codec::FramedRead;

use crate::{
    codec::{BadLine, LineCodec, MAX_LINE},
    quickack::QuickAckHalf,
};

/// A peer that does not take a line within this time is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Idle time before the first keepalive probe.
const KEEPALIVE_TIME: Duration = Duration::from_secs(30);
/// Time between further probes, until the kernel gives up.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

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
    /// Time-out.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
}

impl From<tungstenite::Error> for NetError {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Io(io) => NetError::Io(io),
            tungstenite::Error::Http(answer) => NetError::Http(answer.status()),
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

fn split_tcp(stream: TcpStream, codec: LineCodec) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let (read, write) = stream.into_split();
    let lines = FramedRead::new(QuickAckHalf::new(read), codec);
    Ok((LineReader(Reader::Tcp(lines)), LineWriter(Writer::Tcp(write))))
}

/// Takes over a TCP connection whose peer asks for WebSocket: one message per text frame.
///
/// # Errors
/// [`NetError`]; [`NetError::TimedOut`] if the handshake is not done within `limit`.
pub async fn accept_ws(stream: TcpStream, limit: Duration) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let handshake = tokio_tungstenite::accept_async_with_config(stream, Some(ws_config()));
    let socket = timeout(limit, handshake).await.map_err(|_| NetError::TimedOut(limit))??;
    Ok(split_ws(socket))
}

pub(crate) async fn connect_ws(
    request: Request,
    stream: TcpStream,
) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let handshake = tokio_tungstenite::client_async_with_config(request, stream, Some(ws_config()));
    Ok(split_ws(handshake.await?.0))
}

fn ws_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_LINE))
        .max_frame_size(Some(MAX_LINE))
        .read_buffer_size(MAX_LINE)
        .max_write_buffer_size(64 * MAX_LINE)
        .write_buffer_size(0)
}

fn split_ws(socket: WebSocketStream<TcpStream>) -> (LineReader, LineWriter) {
    let (sink, stream) = socket.split();
    (LineReader(Reader::Ws { stream, pending: VecDeque::new() }), LineWriter(Writer::Ws(sink)))
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
    Tcp(FramedRead<QuickAckHalf, LineCodec>),
    Ws { stream: SplitStream<WebSocketStream<TcpStream>>, pending: VecDeque<Incoming> },
}

impl LineReader {
    /// Acknowledges received packets at once from now on, where the system can (Linux), for servers that wait for
    /// it. Has no effect over WebSocket.
    pub fn acknowledge_at_once(&mut self) {
        if let Reader::Tcp(lines) = &mut self.0 {
            lines.get_mut().enable();
        }
    }

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
pub struct LineWriter(Writer);

#[derive(Debug)]
enum Writer {
    Tcp(OwnedWriteHalf),
    Ws(SplitSink<WebSocketStream<TcpStream>, Message>),
}

impl LineWriter {
    /// Sends one line and its end, in one write or as one text frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub async fn send(&mut self, line: &str) -> Result<(), NetError> {
        self.send_text(&format!("{line}\n")).await
    }

    /// Sends text as it is, in one write or as one text frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is unusable.
    pub async fn send_text(&mut self, text: &str) -> Result<(), NetError> {
        let write = async {
            match &mut self.0 {
                Writer::Tcp(socket) => Ok(socket.write_all(text.as_bytes()).await?),
                Writer::Ws(sink) => Ok(sink.send(Message::text(text)).await?),
            }
        };
        timeout(WRITE_TIMEOUT, write).await.map_err(|_| NetError::TimedOut(WRITE_TIMEOUT))?
    }

    /// Closes the connection as the transport wants it. Errors are ignored.
    pub async fn close(mut self) {
        let goodbye = async {
            match &mut self.0 {
                Writer::Tcp(socket) => drop(socket.shutdown().await),
                Writer::Ws(sink) => drop(sink.close().await),
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

    #[tokio::test]
    async fn reads_lines_and_drops_half_ones() {
        let lines = read_all(b"one\r\n\n  \ntwo\nthr").await;
        assert_eq!(lines, [Ok("one".to_owned()), Ok("two".to_owned())]);
    }

    #[tokio::test]
    async fn continues_after_bytes_that_are_not_text() {
        let lines = read_all(b"one\n\xff\xfe\ntwo\n").await;
        assert_eq!(lines, [Ok("one".to_owned()), Err(BadLine::NotUtf8), Ok("two".to_owned())]);
    }

    #[tokio::test]
    async fn continues_after_a_line_that_is_too_long() {
        let long: &'static [u8] =
            Box::leak([&vec![b'x'; 10 << 20][..], b"\ntwo\n"].concat().into_boxed_slice());
        assert_eq!(read_all(long).await, [Err(BadLine::TooLong), Ok("two".to_owned())]);
    }
}

//! Lines of text over TCP and over WebSocket, both ways: bounded in length and time; and what HTTP needs.
//!
//! The bot's clients and the arena's listeners share this room. It knows no message of any protocol.

use std::{
    collections::VecDeque,
    fmt, io,
    str::FromStr,
    time::{Duration, Instant},
};

use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use secrecy::{ExposeSecret, SecretString};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpStream, tcp::OwnedWriteHalf},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        client::IntoClientRequest,
        handshake::client::Request,
        http::{HeaderValue, header},
        protocol::WebSocketConfig,
    },
};
use tokio_util::codec::FramedRead;

pub use tokio_tungstenite::tungstenite::http::StatusCode;

mod half;
pub mod http;
mod lines;
pub mod private;

use half::{Acknowledges, ReadHalf};
use lines::Lines;

/// The longest line taken from anybody. The longest message of a protocol of ours is below 300 bytes.
pub const MAX_LINE: usize = 4096;

/// A write that takes longer than this goes to a peer that no longer reads.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// A silent peer is asked after this whether it is still there,
const KEEPALIVE_AFTER: Duration = Duration::from_secs(30);
/// and again at this distance, until the kernel gives up.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(10);

/// What went wrong with a connection.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The operating system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The WebSocket layer says no: a failed handshake, a frame that is too large or not UTF-8.
    #[error("WebSocket: {0}")]
    WebSocket(#[from] Box<tungstenite::Error>),
    /// What answers speaks HTTP, and does not let us in.
    #[error("the server answers HTTP {0}")]
    Http(StatusCode),
    /// Nothing within the time allowed.
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

/// Where a server is: `tcp://host:port` or `ws://host:port/path`.
///
/// ```
/// use zeitnot_net::Address;
/// assert!("tcp://localhost:8000".parse::<Address>().is_ok());
/// assert!("ws://[::1]:8000/play".parse::<Address>().is_ok());
/// assert!("localhost".parse::<Address>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Address {
    scheme: Scheme,
    /// Host and port as the resolver takes them.
    authority: String,
    path: String,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Scheme {
    Tcp,
    WebSocket,
}

/// Text that is no address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is no address: expected tcp://host:port or ws://host:port/path")]
pub struct BadAddress(String);

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.chars().take(100).collect());
        let (scheme, rest) = match text.split_once("://").ok_or_else(bad)? {
            ("tcp", rest) => (Scheme::Tcp, rest),
            ("ws", rest) => (Scheme::WebSocket, rest),
            _ => return Err(bad()),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (host, port) = match (authority.rsplit_once(':'), scheme) {
            (Some((host, port)), _) => (host, port),
            (None, Scheme::WebSocket) => (authority, "80"),
            (None, Scheme::Tcp) => return Err(bad()),
        };
        let port: u16 = port.parse().map_err(|_| bad())?;
        let graphic = text.bytes().all(|b| b.is_ascii_graphic());
        if host.is_empty() || port == 0 || !graphic || (scheme == Scheme::Tcp && path.len() > 1) {
            return Err(bad());
        }
        Ok(Address { scheme, authority: format!("{host}:{port}"), path: path.to_owned() })
    }
}

impl TryFrom<String> for Address {
    type Error = BadAddress;
    fn try_from(text: String) -> Result<Self, BadAddress> {
        text.parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Tcp => "tcp",
            Scheme::WebSocket => "ws",
        };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

impl Address {
    /// Connects, and for WebSocket shakes hands.
    ///
    /// # Errors
    /// [`NetError`]; [`NetError::TimedOut`] if it is not done within `limit`.
    pub async fn connect(&self, limit: Duration) -> Result<(LineReader, LineWriter), NetError> {
        self.connect_with(None, limit).await
    }

    /// Connects, and shows the token in the WebSocket handshake. Over TCP there is nowhere to show it:
    /// see [`Address::takes_token`].
    ///
    /// # Errors
    /// As [`Address::connect`]; [`NetError::Http`] if the token is not good enough.
    pub async fn connect_with(
        &self,
        token: Option<&SecretString>,
        limit: Duration,
    ) -> Result<(LineReader, LineWriter), NetError> {
        let attempt = async {
            let stream = TcpStream::connect(&self.authority).await?;
            match self.scheme {
                Scheme::Tcp => over_tcp(stream),
                Scheme::WebSocket => {
                    tune(&stream)?;
                    let request = self.request(token)?;
                    let (socket, _) =
                        tokio_tungstenite::client_async_with_config(request, stream, Some(ws_config()))
                            .await?;
                    Ok(split_ws(socket))
                }
            }
        };
        timeout(limit, attempt).await.map_err(|_| NetError::TimedOut(limit))?
    }

    /// Is there a place for a token in how this server is connected to?
    pub fn takes_token(&self) -> bool {
        self.scheme == Scheme::WebSocket
    }

    fn request(&self, token: Option<&SecretString>) -> Result<Request, NetError> {
        let mut request = self.to_string().into_client_request()?;
        if let Some(token) = token {
            let mut value =
                HeaderValue::try_from(format!("Bearer {}", token.expose_secret())).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidInput, "a token that no header can hold")
                })?;
            value.set_sensitive(true);
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        Ok(request)
    }
}

/// No waiting for more bytes before a packet leaves; and a peer that is gone without a word is found out
/// by the kernel, also where a protocol may be silent for hours.
fn tune(stream: &TcpStream) -> io::Result<()> {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_EVERY);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
    stream.set_nodelay(true)
}

/// Takes over a TCP connection: lines end with `\n`, empty ones are passed over.
///
/// # Errors
/// [`NetError::Io`] if the socket is dead already.
pub fn over_tcp(stream: TcpStream) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let (read, write) = stream.into_split();
    let lines = FramedRead::new(ReadHalf::new(read), Lines::plain());
    Ok((LineReader(Reader::Tcp(lines)), LineWriter(Writer::Tcp(write))))
}

/// Takes over a TCP connection at whose other end somebody may sit with telnet: lines also end with
/// `\r\0`, and empty ones count.
///
/// # Errors
/// [`NetError::Io`] if the socket is dead already.
pub fn over_telnet(stream: TcpStream) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let (read, write) = stream.into_split();
    let lines = FramedRead::new(ReadHalf::new(read), Lines::telnet());
    Ok((LineReader(Reader::Tcp(lines)), LineWriter(Writer::Tcp(write))))
}

/// Takes over a TCP connection on which the other side asks for WebSocket: one message a text frame.
///
/// # Errors
/// [`NetError`]; [`NetError::TimedOut`] if the handshake is not done within `limit`.
pub async fn accept_ws(stream: TcpStream, limit: Duration) -> Result<(LineReader, LineWriter), NetError> {
    tune(&stream)?;
    let handshake = tokio_tungstenite::accept_async_with_config(stream, Some(ws_config()));
    let socket = timeout(limit, handshake).await.map_err(|_| NetError::TimedOut(limit))??;
    Ok(split_ws(socket))
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

/// Something that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The line without its end, or what is wrong with it.
    pub line: Result<String, BadLine>,
    /// When its bytes were read.
    pub read_at: Instant,
}

/// A line that cannot be read; the connection goes on behind it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// Longer than [`MAX_LINE`]; the rest of it is thrown away unread.
    #[error("a line longer than {MAX_LINE} bytes")]
    TooLong,
    /// Bytes that are no text.
    #[error("a line that is not UTF-8")]
    NotUtf8,
}

/// The incoming half of a connection.
#[derive(Debug)]
pub struct LineReader(Reader);

#[derive(Debug)]
enum Reader {
    Tcp(FramedRead<ReadHalf, Lines>),
    Ws { stream: SplitStream<WebSocketStream<TcpStream>>, pending: VecDeque<Incoming> },
}

impl LineReader {
    /// From now on what comes in is acknowledged at once, where the system can do so (Linux): for servers
    /// that would otherwise wait for it. Over WebSocket it makes no difference.
    pub fn acknowledge_at_once(&mut self) {
        if let Reader::Tcp(lines) = &mut self.0 {
            lines.get_mut().acknowledges = Acknowledges::AtOnce;
        }
    }

    /// The next line; `None` when the other side closed. Cancel safe. An empty line is passed over, unless
    /// it comes by [`over_telnet`].
    ///
    /// A line cut off by the close is never returned: half a message is no message.
    ///
    /// # Errors
    /// [`NetError`]: the connection is of no more use.
    pub async fn next(&mut self) -> Result<Option<Incoming>, NetError> {
        match &mut self.0 {
            Reader::Tcp(lines) => loop {
                let Some(line) = lines.next().await.transpose()? else { return Ok(None) };
                let counts = matches!(lines.decoder(), Lines::Telnet(_));
                if !counts && line.as_ref().is_ok_and(|l| l.trim().is_empty()) {
                    continue;
                }
                return Ok(Some(Incoming { line, read_at: Instant::now() }));
            },
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
                    Ok(text) => pending.extend(
                        text.lines()
                            .filter(|line| !line.trim().is_empty())
                            .map(|line| Incoming { line: Ok(line.to_owned()), read_at }),
                    ),
                }
            },
        }
    }
}

/// The outgoing half of a connection.
#[derive(Debug)]
pub struct LineWriter(Writer);

#[derive(Debug)]
enum Writer {
    Tcp(OwnedWriteHalf),
    Ws(SplitSink<WebSocketStream<TcpStream>, Message>),
}

impl LineWriter {
    /// Sends one line; over TCP in one write with its end, over WebSocket as one text frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is of no more use.
    pub async fn send(&mut self, line: &str) -> Result<(), NetError> {
        self.send_text(&format!("{line}\n")).await
    }

    /// Sends text as it is, with whatever ends of lines are in it: in one write, or as one frame.
    ///
    /// # Errors
    /// [`NetError`]: the connection is of no more use.
    pub async fn send_text(&mut self, text: &str) -> Result<(), NetError> {
        let write = async {
            match &mut self.0 {
                Writer::Tcp(socket) => Ok(socket.write_all(text.as_bytes()).await?),
                Writer::Ws(sink) => Ok(sink.send(Message::text(text)).await?),
            }
        };
        timeout(WRITE_TIMEOUT, write).await.map_err(|_| NetError::TimedOut(WRITE_TIMEOUT))?
    }

    /// Says goodbye in the transport's way. Errors do not matter any more.
    pub async fn close(mut self) {
        let goodbye = async {
            match &mut self.0 {
                Writer::Tcp(socket) => drop(socket.shutdown().await),
                Writer::Ws(sink) => drop(sink.close().await),
            }
        };
        let _ = timeout(Duration::from_secs(1), goodbye).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What a reader makes of these bytes, followed by a close.
    async fn read_all(bytes: &'static [u8]) -> Vec<Result<String, BadLine>> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let writer = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(bytes).await.unwrap();
        });
        let address: Address = format!("tcp://{at}").parse().unwrap();
        let (mut reader, _keep) = address.connect(Duration::from_secs(5)).await.unwrap();
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
    async fn goes_on_behind_bytes_that_are_no_text() {
        let lines = read_all(b"one\n\xff\xfe\ntwo\n").await;
        assert_eq!(lines, [Ok("one".to_owned()), Err(BadLine::NotUtf8), Ok("two".to_owned())]);
    }

    #[tokio::test]
    async fn goes_on_behind_a_line_that_is_too_long() {
        let long: &'static [u8] =
            Box::leak([&vec![b'x'; 10 << 20][..], b"\ntwo\n"].concat().into_boxed_slice());
        assert_eq!(read_all(long).await, [Err(BadLine::TooLong), Ok("two".to_owned())]);
    }

    #[test]
    fn addresses() {
        for good in ["tcp://localhost:1", "ws://h:80", "ws://h", "ws://h:80/a/b?c=d", "tcp://[::1]:99"] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for bad in
            ["", "tcp://", "tcp://h", "tcp://h:0", "tcp://h:70000", "http://h:1", "ws://:1", "tcp://a b:1"]
        {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}

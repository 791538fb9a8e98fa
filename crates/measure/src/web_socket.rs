//! WebSockets of the arena's page, with as little work as can be: 500 of them share a core.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader, sink},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// First byte of a text frame that is a whole message.
const TEXT: u8 = 0x81;
/// First byte of a ping.
const PING: u8 = 0x89;
/// Bit of the second byte: the payload is masked, as clients must do. The mask is zero.
const MASKED: u8 = 0x80;
const MAX_FRAME: u64 = 1 << 20;

pub(crate) struct Reader(BufReader<OwnedReadHalf>);

pub(crate) struct Writer(OwnedWriteHalf);

/// Makes a WebSocket of a connection.
pub(crate) async fn open(stream: TcpStream, path: &str) -> io::Result<(Reader, Writer)> {
    stream.set_nodelay(true)?;
    let address = stream.peer_addr()?;
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    write.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read.read_u8().await?);
    }
    Ok((Reader(read), Writer(write)))
}

impl Writer {
    pub(crate) async fn say(&mut self, text: &str) -> io::Result<()> {
        self.send(TEXT, text.as_bytes()).await
    }

    pub(crate) async fn ping(&mut self) -> io::Result<()> {
        self.send(PING, &[]).await
    }

    async fn send(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        let mut frame = vec![kind, MASKED | length, 0, 0, 0, 0];
        frame.extend_from_slice(payload);
        self.0.write_all(&frame).await
    }
}

impl Reader {
    /// Reads the text of the next frame; other frames have none.
    pub(crate) async fn frame(&mut self) -> io::Result<String> {
        let read = &mut self.0;
        let kind = read.read_u8().await?;
        let short = read.read_u8().await?;
        let length = match short {
            126 => read.read_u16().await?.into(),
            127 => read.read_u64().await?,
            short => short.into(),
        };
        if length > MAX_FRAME {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; length as usize];
        read.read_exact(&mut payload).await?;
        Ok(if kind == TEXT { String::from_utf8_lossy(&payload).into_owned() } else { String::new() })
    }

    /// Reads to the end.
    pub(crate) async fn drain(&mut self) {
        // An error is an end, too.
        let _ = tokio::io::copy(&mut self.0, &mut sink()).await;
    }
}

//! Lines over TCP from a server that may be killed at any moment.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
    time::timeout,
};
use zeitnot_testing::LONG;

pub struct Lines(BufStream<TcpStream>);

impl Lines {
    pub async fn connect(address: SocketAddr) -> Option<Lines> {
        let stream = timeout(LONG, TcpStream::connect(address)).await.ok()?.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Lines(BufStream::new(stream)))
    }

    pub async fn say(&mut self, text: &str) -> Option<()> {
        self.0.write_all(text.as_bytes()).await.ok()?;
        self.0.flush().await.ok()
    }

    /// The next line without its end; `None` at the end of the connection.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let read = timeout(LONG, self.0.read_until(b'\n', &mut line)).await.ok()?.ok()?;
        (read > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// The next line that begins so; others are passed over.
    pub async fn until(&mut self, beginning: &str) -> Option<String> {
        loop {
            let line = self.line().await?;
            if line.starts_with(beginning) {
                return Some(line);
            }
        }
    }
}

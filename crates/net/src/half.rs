//! The reading half of a TCP connection, which can be told to acknowledge at once.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, ReadBuf},
    net::{TcpStream, tcp::OwnedReadHalf},
};

/// See the module's comment.
#[derive(Debug)]
pub(super) struct ReadHalf {
    half: OwnedReadHalf,
    pub(super) acknowledges: Acknowledges,
}

/// When the system tells the other side that its bytes are here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Acknowledges {
    /// As it likes: most likely with the next bytes of ours, or after 40 ms.
    Lazily,
    /// At once. A server that still waits with its next bytes until the last ones have arrived would
    /// otherwise send them 40 ms late, by our clock.
    AtOnce,
}

impl ReadHalf {
    pub(super) fn new(half: OwnedReadHalf) -> ReadHalf {
        ReadHalf { half, acknowledges: Acknowledges::Lazily }
    }

    /// The system forgets it after a while, so it is said around each read. A wish, not a need: what it
    /// answers does not matter.
    fn hurry(&self) {
        if self.acknowledges == Acknowledges::AtOnce {
            let _ = acknowledge_at_once(self.half.as_ref());
        }
    }
}

#[cfg(target_os = "linux")]
fn acknowledge_at_once(stream: &TcpStream) -> io::Result<()> {
    socket2::SockRef::from(stream).set_tcp_quickack(true)
}

#[cfg(not(target_os = "linux"))]
fn acknowledge_at_once(_: &TcpStream) -> io::Result<()> {
    Ok(())
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.hurry();
        let read = Pin::new(&mut self.half).poll_read(context, buffer);
        self.hurry();
        read
    }
}

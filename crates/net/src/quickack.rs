//! Reading half of a TCP connection that can acknowledge each packet at once (`TCP_QUICKACK`).

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, ReadBuf},
    net::{TcpStream, tcp::OwnedReadHalf},
};

/// A server that waits for our acknowledgement before its next bytes would otherwise send them 40 ms late, by our
/// clock.
#[derive(Debug)]
pub(crate) struct QuickAckHalf {
    half: OwnedReadHalf,
    enabled: bool,
}

impl QuickAckHalf {
    pub(crate) fn new(half: OwnedReadHalf) -> QuickAckHalf {
        QuickAckHalf { half, enabled: false }
    }

    pub(crate) fn enable(&mut self) {
        self.enabled = true;
    }

    /// The system forgets the option after a while, so it is set around each read. Failing to set it is harmless.
    fn acknowledge(&self) {
        if self.enabled {
            let _ = set_quickack(self.half.as_ref());
        }
    }
}

#[cfg(target_os = "linux")]
fn set_quickack(stream: &TcpStream) -> io::Result<()> {
    socket2::SockRef::from(stream).set_tcp_quickack(true)
}

#[cfg(not(target_os = "linux"))]
fn set_quickack(_: &TcpStream) -> io::Result<()> {
    Ok(())
}

impl AsyncRead for QuickAckHalf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.acknowledge();
        let read = Pin::new(&mut self.half).poll_read(context, buffer);
        self.acknowledge();
        read
    }
}

//! Stream over TCP that acknowledges what it reads at once (`TCP_QUICKACK`, Linux).

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, tcp::OwnedReadHalf},
};

/// A stream, or its reading half, above a TCP socket.
pub(crate) trait OverTcp {
    fn socket(&self) -> &TcpStream;
}

impl OverTcp for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl OverTcp for OwnedReadHalf {
    fn socket(&self) -> &TcpStream {
        self.as_ref()
    }
}

/// Acknowledges each packet as it is read.
///
/// The system would wait 40 ms for something to send with the acknowledgement. A peer with Nagle's algorithm holds its
/// next bytes back until then, and what it holds back is a request for a move, on our clock.
#[derive(Debug)]
pub(crate) struct QuickAck<S>(S);

impl<S: OverTcp> QuickAck<S> {
    pub(crate) fn new(stream: S) -> QuickAck<S> {
        QuickAck(stream)
    }

    /// Sends a pending acknowledgement. The system forgets the option at the next write, so it is set after each
    /// read. Failing to set it is harmless.
    fn acknowledge(&self) {
        let _ = set_quickack(self.0.socket());
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

impl<S: OverTcp + AsyncRead + Unpin> AsyncRead for QuickAck<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        self.acknowledge();
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for QuickAck<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

//! UDP socket of one game.

use std::{io, net::SocketAddr};

use tokio::net::{UdpSocket, lookup_host};
use zeitnot_wire::tuc::MAX_DATAGRAM;

/// Socket to one server, with its own local address for one game.
#[derive(Debug)]
pub(super) struct Socket {
    socket: UdpSocket,
    server: SocketAddr,
    connected: bool,
}

impl Socket {
    pub(super) async fn open(address: &str) -> io::Result<Socket> {
        let not_found = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let server = lookup_host(address).await?.next().ok_or_else(not_found)?;
        let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).await?;
        // A connected socket reports an unreachable server and receives from nobody else. But a server that is reached
        // by another address of this machine, such as Debian's 127.0.1.1, may answer from 127.0.0.1.
        let connected = !server.ip().is_loopback() || server.ip().to_string() != "127.0.1.1";
        if connected {
            socket.connect(server).await?;
        }
        Ok(Socket { socket, server, connected })
    }

    /// Returns the server's address if it is on this machine.
    pub(super) fn local_server(&self) -> Option<SocketAddr> {
        let is_ours = self.socket.local_addr().is_ok_and(|ours| ours.ip() == self.server.ip());
        (is_ours || self.server.ip().is_loopback()).then_some(self.server)
    }

    pub(super) async fn send(&self, text: &str) -> io::Result<()> {
        match self.connected {
            true => self.socket.send(text.as_bytes()).await.map(drop),
            false => self.socket.send_to(text.as_bytes(), self.server).await.map(drop),
        }
    }

    /// Returns the next datagram from the server. Cancel safe.
    pub(super) async fn receive(&self) -> io::Result<Vec<u8>> {
        let mut buffer = [0; MAX_DATAGRAM + 1];
        loop {
            let (length, from) = self.socket.recv_from(&mut buffer).await?;
            let is_server = from.port() == self.server.port() && (self.connected || from.ip().is_loopback());
            if is_server {
                return Ok(buffer[..length].to_vec());
            }
        }
    }
}

//! Socket of a table: datagrams in and out.

use std::{io, net::SocketAddr};

use tokio::net::UdpSocket;
use zeitnot_rules::ByColor;
use zeitnot_wire::{
    Message,
    tuc::{FromServer, MAX_DATAGRAM},
};

#[derive(Clone, Debug)]
pub(super) struct TablePlayer {
    pub(super) name: String,
    pub(super) address: SocketAddr,
}

#[derive(Debug)]
pub(super) struct TableSocket(UdpSocket);

/// Attempts to send while the system reports the fate of earlier datagrams instead.
const MAX_ATTEMPTS: usize = 8;

impl TableSocket {
    pub(super) fn new(socket: UdpSocket) -> io::Result<TableSocket> {
        unreachable::enable(&socket)?;
        Ok(TableSocket(socket))
    }

    /// Waits for a datagram. Cancel safe.
    pub(super) async fn receive(&self) -> io::Result<(Vec<u8>, SocketAddr)> {
        let mut buffer = [0; MAX_DATAGRAM];
        loop {
            match self.0.recv_from(&mut buffer).await {
                Ok((length, from)) => return Ok((buffer[..length].to_vec(), from)),
                // An earlier datagram reached nobody: a player has left, which the game finds out.
                Err(error) if is_report(&error) => drop(self.unreachable()),
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) async fn send(&self, address: SocketAddr, message: &FromServer) -> io::Result<()> {
        for _ in 0..MAX_ATTEMPTS {
            match self.0.send_to(message.to_line().as_bytes(), address).await {
                Ok(_) => return Ok(()),
                // Nothing was sent: this is about an earlier datagram.
                Err(error) if is_report(&error) => drop(self.unreachable()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the addresses where datagrams were refused since the last call, because no program listens there. Only
    /// Linux tells.
    pub(super) fn unreachable(&self) -> Vec<SocketAddr> {
        unreachable::addresses(&self.0)
    }

    /// Sends a message to both players, White first as in the original.
    pub(super) async fn send_both(
        &self,
        players: &ByColor<TablePlayer>,
        message: &FromServer,
    ) -> io::Result<()> {
        for player in &players.0 {
            self.send(player.address, message).await?;
        }
        Ok(())
    }
}

/// Returns whether an error tells of an earlier datagram.
fn is_report(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable)
}

/// The queue of ICMP errors of a socket.
#[cfg(target_os = "linux")]
mod unreachable {
    use std::{
        io::{self, IoSliceMut},
        net::SocketAddr,
        os::fd::AsRawFd,
    };

    use nix::sys::socket::{MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
    use tokio::net::UdpSocket;

    /// Errors that are read at once.
    const MAX_ERRORS: usize = 64;

    pub(super) fn enable(socket: &UdpSocket) -> io::Result<()> {
        match socket.local_addr()? {
            SocketAddr::V4(_) => setsockopt(socket, sockopt::Ipv4RecvErr, &true)?,
            SocketAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvErr, &true)?,
        }
        Ok(())
    }

    pub(super) fn addresses(socket: &UdpSocket) -> Vec<SocketAddr> {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let next = || {
            let mut payload = [0; 16];
            let mut slices = [IoSliceMut::new(&mut payload)];
            let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, None, flags).ok()?;
            Some(message.address.and_then(address))
        };
        std::iter::from_fn(next).take(MAX_ERRORS).flatten().collect()
    }

    fn address(stored: SockaddrStorage) -> Option<SocketAddr> {
        let v4 = stored.as_sockaddr_in().map(|v4| SocketAddr::from(std::net::SocketAddrV4::from(*v4)));
        v4.or_else(|| stored.as_sockaddr_in6().map(|v6| SocketAddr::from(std::net::SocketAddrV6::from(*v6))))
    }
}

#[cfg(not(target_os = "linux"))]
mod unreachable {
    use std::{io, net::SocketAddr};

    use tokio::net::UdpSocket;

    pub(super) fn enable(_: &UdpSocket) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn addresses(_: &UdpSocket) -> Vec<SocketAddr> {
        Vec::new()
    }
}

//! Watch over a server on this machine. The protocol does not say that a server has ended, and any datagram to one that goes
//! on may end its game; but the system says whether its socket is still open.

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

/// Interval between two looks.
pub(super) const INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct LocalServer {
    port: u16,
    sockets: BTreeSet<SocketId>,
}

/// Number that the system gives a socket, and no other one after it.
type SocketId = u64;

impl LocalServer {
    /// Finds the sockets of a server at an address of this machine; `None` if the system does not show them.
    pub(super) async fn find(address: SocketAddr) -> Option<LocalServer> {
        let port = address.port();
        let sockets = open_sockets(port).await?;
        (!sockets.is_empty()).then_some(LocalServer { port, sockets })
    }

    /// Returns whether the server is still there, and has not begun anew.
    pub(super) async fn is_there(&self) -> bool {
        open_sockets(self.port).await.is_none_or(|open| !open.is_disjoint(&self.sockets))
    }
}

/// Returns the UDP sockets of this port.
#[cfg(target_os = "linux")]
async fn open_sockets(port: u16) -> Option<BTreeSet<SocketId>> {
    let read = || ["/proc/net/udp", "/proc/net/udp6"].map(std::fs::read_to_string);
    let tables = tokio::task::spawn_blocking(read).await.ok()?;
    // One of them may be missing, as the version of IP is.
    let tables: Vec<_> = tables.into_iter().flatten().collect();
    (!tables.is_empty()).then(|| tables.iter().flat_map(|table| sockets_in(table, port)).collect())
}

/// Only Linux shows them.
#[cfg(not(target_os = "linux"))]
async fn open_sockets(_: u16) -> Option<BTreeSet<SocketId>> {
    None
}

/// Reads a table of sockets, as proc_net(5) describes it: the second field is the address with the port in hexadecimal, the
/// tenth the number of the socket.
#[cfg(target_os = "linux")]
fn sockets_in(table: &str, port: u16) -> impl Iterator<Item = SocketId> {
    table.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_whitespace();
        let (_, local) = fields.nth(1)?.split_once(':')?;
        let socket = fields.nth(7)?;
        (u16::from_str_radix(local, 16) == Ok(port)).then(|| socket.parse().ok())?
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::UdpSocket;

    use super::*;

    #[test]
    async fn a_server_that_ends_or_begins_anew_is_not_there_any_more() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            // This machine may have no IPv6.
            let Ok(server) = UdpSocket::bind(any).await else { continue };
            let address = server.local_addr().unwrap();
            let watched = LocalServer::find(address).await.unwrap();
            assert!(watched.is_there().await);
            drop(server);
            assert!(!watched.is_there().await && LocalServer::find(address).await.is_none());
            let _again = UdpSocket::bind(address).await.unwrap();
            assert!(!watched.is_there().await, "another one");
        }
    }

    #[test]
    fn the_table_of_the_system_is_read() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref\n\
            11689: 0100007F:2694 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 51341 2 0\n\
            11690: 0100007F:2695 0100007F:2694 01 00000000:00000000 00:00000000 00000000     0        0 51342 2 0\n";
        assert_eq!(sockets_in(table, 9876).collect::<Vec<_>>(), [51341]);
    }
}

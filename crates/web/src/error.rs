//! Errors that keep a server from starting.

use std::{io, net::SocketAddr};

/// Reason why a server cannot start.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{0}")]
    Config(String),
    #[error("cannot listen on {address}: {source}; {}", listen_hint(source.kind()))]
    Listen { address: SocketAddr, source: io::Error },
}

/// Says what to do about an address that cannot be listened on.
fn listen_hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => "is another server running there?",
        io::ErrorKind::AddrNotAvailable => "choose an address of this machine, such as 127.0.0.1",
        io::ErrorKind::PermissionDenied => "choose a port above 1023",
        _ => "choose another address",
    }
}

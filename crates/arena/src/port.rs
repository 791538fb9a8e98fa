//! Listening port: a source of connections until shutdown.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::error::ArenaError;

/// Pause after a failed accept, most likely for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Port {
    /// Bound address, with the port that the system chose if any was asked for.
    pub(crate) address: SocketAddr,
    listener: TcpListener,
}

impl Port {
    pub(crate) async fn open(address: SocketAddr) -> Result<Port, ArenaError> {
        let error = |source| ArenaError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(error)?;
        Ok(Port { address: listener.local_addr().map_err(error)?, listener })
    }

    /// Frees the port from its runtime, so that another can take it.
    pub(crate) fn into_std(self) -> io::Result<std::net::TcpListener> {
        self.listener.into_std()
    }

    /// Takes a listener into the present runtime.
    pub(crate) fn from_std(listener: std::net::TcpListener) -> io::Result<Port> {
        Ok(Port { address: listener.local_addr()?, listener: TcpListener::from_std(listener)? })
    }

    /// Accepts the next connection; `None` at `stop`.
    pub(crate) async fn next(&self, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
        loop {
            match stop.run_until_cancelled(self.listener.accept()).await? {
                Ok(accepted) => return Some(accepted),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    stop.run_until_cancelled(sleep(ACCEPT_PAUSE)).await?;
                }
            }
        }
    }
}

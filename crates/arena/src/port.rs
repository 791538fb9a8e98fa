//! Listening port: a source of connections until shutdown.

use std::{net::SocketAddr, time::Duration};

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

//! A port that is listened on: connections come from it one by one, until it is time to stop.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::error::ArenaError;

/// How long to wait after the system refused us a connection, most likely for lack of descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// See the module's comment.
#[derive(Debug)]
pub(super) struct Port {
    /// As it was taken: where any port was asked for, this says which.
    pub address: SocketAddr,
    listener: TcpListener,
}

impl Port {
    /// Takes the port.
    ///
    /// # Errors
    /// [`ArenaError::Listen`] if it cannot be had.
    pub async fn open(address: SocketAddr) -> Result<Port, ArenaError> {
        let error = |source| ArenaError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(error)?;
        Ok(Port { address: listener.local_addr().map_err(error)?, listener })
    }

    /// The next connection, and from where; `None`: it is time to stop.
    pub async fn next(&self, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
        loop {
            match stop.run_until_cancelled(self.listener.accept()).await? {
                Ok(accepted) => return Some(accepted),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    stop.run_until_cancelled(sleep(BREATH)).await?;
                }
            }
        }
    }
}

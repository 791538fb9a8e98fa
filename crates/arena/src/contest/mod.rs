//! Contest protocol over TCP and WebSocket: listens, limits connections, and gives each a task.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::http::{HeaderMap, Uri};
use tokio::net::TcpStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net::{self as net, LineWriter, LogThrottle, NetError};
use zeitnot_web::{
    hosts::Hosts,
    places::{Place, PlaceLimits, Places},
    port::Port,
};

use crate::{error::ArenaError, paced::PacedReader, tournament::TournamentRegistry};

mod connection;
mod wire;

use connection::CloseReason;

const HANDSHAKE: Duration = Duration::from_secs(5);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    WebSocket,
}

impl Transport {
    async fn take(self, stream: TcpStream, hosts: &Hosts) -> Result<(PacedReader, LineWriter), NetError> {
        let (reader, writer) = match self {
            Transport::Tcp => net::over_tcp(stream)?,
            Transport::WebSocket => {
                let admit = |headers: &HeaderMap, uri: &Uri| {
                    hosts.check_handshake(headers, uri).map_err(|bad| (bad.status(), bad.to_string()))
                };
                net::accept_ws(stream, HANDSHAKE, admit).await?
            }
        };
        Ok((PacedReader::new(reader), writer))
    }
}

#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) port: Port,
    pub(crate) transport: Transport,
}

impl Listener {
    pub(crate) fn bind(address: SocketAddr, transport: Transport) -> Result<Listener, ArenaError> {
        Ok(Listener { port: Port::open(address)?, transport })
    }

    /// Returns its address as clients write it.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.transport {
            Transport::Tcp => "tcp",
            Transport::WebSocket => "ws",
        };
        format!("{scheme}://{}", self.port.address)
    }
}

/// Shared part of all listeners.
#[derive(Clone, Debug)]
pub(crate) struct ContestFront {
    registry: TournamentRegistry,
    places: Places,
    /// Names under which browsers may connect.
    hosts: Hosts,
    log: Arc<LogThrottle>,
    /// For clients that come to a tournament that is over, again and again.
    log_over: Arc<LogThrottle>,
    connections: TaskTracker,
    closing: CancellationToken,
}

impl ContestFront {
    /// Creates a front with that many places; `closing` ends every connection.
    pub(crate) fn new(
        registry: TournamentRegistry,
        limits: PlaceLimits,
        hosts: Hosts,
        connections: TaskTracker,
        closing: CancellationToken,
    ) -> Self {
        let (places, log) = (Places::new(limits), Arc::new(LogThrottle::for_strangers()));
        let log_over = Arc::default();
        ContestFront { registry, places, hosts, log, log_over, connections, closing }
    }

    pub(crate) async fn listen(self, listener: Listener, stop: CancellationToken) {
        let serve = |stream, from, place| self.clone().serve(stream, from, listener.transport, place);
        listener.port.serve(&self.places, &self.connections, &stop, serve).await;
    }

    /// Logs the end of a connection that we close.
    fn log_close(&self, client: &str, from: SocketAddr, reason: &CloseReason) {
        let CloseReason { why, is_over } = reason;
        let message = || format!("{client} at {from} is disconnected: {why}");
        match is_over {
            false => self.log.info("clients that are disconnected", message),
            // One line an hour for each tournament.
            true if self.log_over.admits(why, std::time::Instant::now()) => {
                tracing::info!("{}; the next ones are not logged", message());
            }
            true => tracing::debug!("{}", message()),
        }
    }

    async fn serve(self, stream: TcpStream, from: SocketAddr, transport: Transport, place: Place) {
        match self.closing.run_until_cancelled(transport.take(stream, &self.hosts)).await {
            Some(Ok((reader, writer))) => connection::serve(&self, from, &place, reader, writer).await,
            Some(Err(NetError::NotWebSocket)) => self.log.info("clients that do not speak WebSocket", || {
                format!(
                    "{from} does not speak WebSocket, but came to the port for it: lines go to the TCP port"
                )
            }),
            Some(Err(NetError::Http(status))) => {
                self.log.info("WebSocket handshakes that are refused", || {
                    format!("{from} is refused ({status}): a page of another site, or several Host headers")
                });
            }
            Some(Err(error)) => tracing::debug!(%from, %error, "no connection"),
            None => {}
        }
    }
}

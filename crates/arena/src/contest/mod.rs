//! Contest protocol over TCP and WebSocket: listens, limits connections, and gives each a task.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpStream, sync::Semaphore, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net::{self as net, LineReader, LineWriter, NetError};

use crate::{error::ArenaError, port::Port, tournament::TournamentRegistry};

mod connection;
mod delay;
mod wire;

const HANDSHAKE: Duration = Duration::from_secs(10);

/// Time in which a refused client is told why.
const FAREWELL: Duration = Duration::from_secs(2);

/// Clients at once that are told that the arena is full; more are just closed.
const MAX_FAREWELLS: usize = 16;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    WebSocket,
}

impl Transport {
    async fn take(self, stream: TcpStream) -> Result<(LineReader, LineWriter), NetError> {
        match self {
            Transport::Tcp => net::over_tcp(stream),
            Transport::WebSocket => net::accept_ws(stream, HANDSHAKE).await,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) port: Port,
    pub(crate) transport: Transport,
}

impl Listener {
    pub(crate) async fn bind(address: SocketAddr, transport: Transport) -> Result<Listener, ArenaError> {
        Ok(Listener { port: Port::open(address).await?, transport })
    }
}

/// Shared part of all listeners.
#[derive(Clone, Debug)]
pub(crate) struct ContestFront {
    registry: TournamentRegistry,
    places: Arc<Semaphore>,
    farewells: Arc<Semaphore>,
    connections: TaskTracker,
    closing: CancellationToken,
    /// Simulated network delay: longest for a line and the answer to it together.
    delay: Duration,
}

impl ContestFront {
    /// Creates a front with that many places; `closing` ends every connection.
    pub(crate) fn new(
        registry: TournamentRegistry,
        places: usize,
        delay: Duration,
        connections: TaskTracker,
        closing: CancellationToken,
    ) -> Self {
        let [places, farewells] = [places, MAX_FAREWELLS]
            .map(|places| Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))));
        ContestFront { registry, places, farewells, connections, closing, delay }
    }

    pub(crate) async fn listen(self, listener: Listener, stop: CancellationToken) {
        while let Some((stream, from)) = listener.port.next(&stop).await {
            self.admit(stream, from, listener.transport);
        }
    }

    fn admit(&self, stream: TcpStream, from: SocketAddr, transport: Transport) {
        let ContestFront { registry, closing, delay, .. } = self.clone();
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            self.connections.spawn(async move {
                match closing.run_until_cancelled(transport.take(stream)).await {
                    Some(Ok((reader, writer))) => {
                        connection::serve(reader, writer, registry, delay, &closing).await;
                    }
                    Some(Err(error)) => tracing::debug!(%from, %error, "no connection"),
                    None => {}
                }
                drop(place);
            });
        } else if let Ok(place) = self.farewells.clone().try_acquire_owned() {
            tracing::warn!(%from, "turned away: max_connections is reached");
            self.connections.spawn(async move {
                let _ = timeout(FAREWELL, connection::turn_away(transport.take(stream))).await;
                drop(place);
            });
        }
    }
}

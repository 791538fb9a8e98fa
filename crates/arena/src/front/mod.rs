//! The doors: listens, counts heads, and gives each connection a task. One file a protocol the arena speaks.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpStream, sync::Semaphore, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_net as net;
use zeitnot_net::{LineReader, LineWriter, NetError};

use super::{ArenaError, delay::Delay, port::Port, tournament::Hall};

mod contest;

/// How long a WebSocket client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long somebody is listened to who is turned away.
const FAREWELL: Duration = Duration::from_secs(2);

/// How many are told at once that there is no room; more are just closed.
const FAREWELLS: usize = 16;

/// What carries the lines.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Transport {
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

/// A port that is listened on.
#[derive(Debug)]
pub(super) struct Door {
    pub port: Port,
    pub transport: Transport,
}

impl Door {
    /// Takes the port.
    ///
    /// # Errors
    /// [`ArenaError::Listen`] if it cannot be had.
    pub async fn open(address: SocketAddr, transport: Transport) -> Result<Door, ArenaError> {
        Ok(Door { port: Port::open(address).await?, transport })
    }
}

/// What all doors share.
#[derive(Clone, Debug)]
pub(super) struct Front {
    hall: Hall,
    places: Arc<Semaphore>,
    farewells: Arc<Semaphore>,
    connections: TaskTracker,
    closing: CancellationToken,
    delay: Delay,
}

impl Front {
    /// A front with that many places; `closing` ends every connection.
    pub fn new(
        hall: Hall,
        places: usize,
        delay: Delay,
        connections: TaskTracker,
        closing: CancellationToken,
    ) -> Self {
        let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        Front { hall, places, farewells: Arc::new(Semaphore::new(FAREWELLS)), connections, closing, delay }
    }

    /// Lets people in until `stop`.
    pub async fn listen(self, door: Door, stop: CancellationToken) {
        while let Some((stream, from)) = door.port.next(&stop).await {
            self.admit(stream, from, door.transport);
        }
    }

    fn admit(&self, stream: TcpStream, from: SocketAddr, transport: Transport) {
        let Front { hall, closing, delay, .. } = self.clone();
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            self.connections.spawn(async move {
                let taken = closing.run_until_cancelled(transport.take(stream)).await;
                match taken {
                    Some(Ok((reader, writer))) => contest::serve(reader, writer, hall, delay, &closing).await,
                    Some(Err(error)) => tracing::debug!(%from, %error, "no connection"),
                    None => {}
                }
                drop(place);
            });
        } else if let Ok(place) = self.farewells.clone().try_acquire_owned() {
            tracing::warn!(%from, "turned away: max_connections is reached");
            self.connections.spawn(async move {
                let _ = timeout(FAREWELL, contest::turn_away(transport.take(stream))).await;
                drop(place);
            });
        }
    }
}

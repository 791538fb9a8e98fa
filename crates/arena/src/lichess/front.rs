//! Connections as they arrive: a thread of usual priority takes them, and serves those of strangers.
//!
//! A connection whose first packet holds a known token moves to the thread of the games; the others stay. So nothing
//! that anybody can send runs before a move.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use tokio::{net::TcpStream, sync::mpsc, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_engine::priority;
use zeitnot_net::Rate;
use zeitnot_web::{
    places::{Place, PlaceLimits, Places, Pool},
    port::Port,
    side_thread::SideThread,
};
use zeitnot_wire::lichess::Token;

use super::{
    actor::ServerHandle,
    call::token,
    callers::{Caller, CallerKey, Callers},
    http,
};

/// Connections of one address, as fast as requests without a token: some programs make one for each.
const CONNECTIONS: Rate = Rate { burst: 500, interval: Duration::from_millis(2) };

/// Time for the first packet of a connection.
const FIRST_PACKET: Duration = Duration::from_secs(10);
/// Time for which a stranger's connection may wait for its next request.
const STRANGER_IDLE: Duration = Duration::from_secs(10);
/// Bytes of the first packet that are searched for a token.
const HEAD: usize = 4096;
/// The answer to connections beyond the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A connection of a caller with a token.
#[derive(Debug)]
pub(super) struct Member {
    stream: std::net::TcpStream,
    caller: Arc<Caller>,
    place: Place,
}

impl Member {
    pub(super) async fn serve(self, router: Router, idle: Duration, stop: CancellationToken) {
        match TcpStream::from_std(self.stream) {
            Ok(stream) => http::serve(stream, router, self.caller, idle, stop).await,
            Err(error) => tracing::debug!(%error, "a connection to the Lichess API was lost"),
        }
        drop(self.place);
    }
}

/// Starts the thread. It takes connections until `stop`, and runs until `done`.
pub(super) async fn start(
    port: Port,
    front: Front,
    stop: CancellationToken,
    done: CancellationToken,
) -> io::Result<SideThread> {
    let main = async move {
        front.run(port, stop).await;
        done.cancelled().await;
    };
    SideThread::start("lichess", priority::usual, main).await
}

#[derive(Clone, Debug)]
pub(super) struct Front {
    /// The way to check tokens.
    server: ServerHandle,
    /// The routes for strangers.
    router: Router,
    members: mpsc::Sender<Member>,
    callers: Callers,
    /// Callers with a token are players, and all others spectators.
    places: Places,
    max_per_caller: usize,
}

impl Front {
    pub(super) fn new(
        server: ServerHandle,
        router: Router,
        members: mpsc::Sender<Member>,
        max_connections: usize,
    ) -> Front {
        let quarter = (max_connections / 4).max(1);
        let limits =
            PlaceLimits { players: max_connections, spectators: quarter, per_address: max_connections };
        Front {
            server,
            router,
            members,
            callers: Callers::new(max_connections),
            places: Places::new(limits),
            max_per_caller: quarter,
        }
    }

    /// Takes connections until `stop`.
    async fn run(self, port: Port, stop: CancellationToken) {
        let port = match port.take_over(CONNECTIONS) {
            Ok(port) => port,
            Err(error) => return tracing::error!("Lichess: cannot listen: {error}"),
        };
        let tracker = TaskTracker::new();
        let serve = |stream, _, place: Place| {
            // Until it shows a token, it makes room if too many come.
            let _ = place.move_to(Pool::Spectators);
            self.clone().receive(stream, place, stop.clone())
        };
        port.serve(&self.places, &tracker, &stop, serve).await;
        tracker.close();
        tracker.wait().await;
    }

    /// Serves a stranger, and hands over the connection of anybody else.
    async fn receive(self, stream: TcpStream, place: Place, stop: CancellationToken) {
        let mut head = vec![0; HEAD];
        let peeked = stop.run_until_cancelled(timeout(FIRST_PACKET, stream.peek(&mut head))).await;
        let Some(Ok(Ok(length @ 1..))) = peeked else { return };
        let owner = match token(&head[..length]) {
            Some(token) => self.owner(token).await,
            None => None,
        };
        let Some(owner) = owner else {
            let caller = self.callers.get(CallerKey::Address(place.from));
            return http::serve(stream, self.router, caller, STRANGER_IDLE, stop).await;
        };
        let caller = self.callers.get(owner.clone());
        let is_crowded = caller.connections() > self.max_per_caller;
        if is_crowded || place.move_to(Pool::Players).is_err() {
            tracing::warn!("Lichess: a connection of {owner} was refused: too many are open");
            let _ = stream.try_write(FULL);
        } else if let Ok(stream) = stream.into_std() {
            let _ = self.members.send(Member { stream, caller, place }).await;
        }
    }

    async fn owner(&self, token: Token) -> Option<CallerKey> {
        self.server.call(move |server| server.owner(&token)).await?
    }
}

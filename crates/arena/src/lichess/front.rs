//! Connections as they arrive: a thread of usual priority takes them, and serves those of strangers.
//!
//! A connection whose first packet holds a known token moves to the thread of the games; the others stay. So nothing
//! that anybody can send runs before a move.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::AbortHandle,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net::Rate;
use zeitnot_wire::lichess::Token;

use super::{
    actor::ServerHandle,
    call::token,
    callers::{Caller, CallerKey, Callers},
    http,
};
use crate::{places::Origin, port::Port, side_thread::SideThread};

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
    place: OwnedSemaphorePermit,
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
    let listener = port.into_std()?;
    let main = async move {
        front.run(listener, stop).await;
        done.cancelled().await;
    };
    SideThread::start("lichess", main).await
}

#[derive(Clone, Debug)]
pub(super) struct Front {
    /// The way to check tokens.
    server: ServerHandle,
    /// The routes for strangers.
    router: Router,
    members: mpsc::Sender<Member>,
    callers: Callers,
    places: Arc<Semaphore>,
    max_connections: usize,
}

/// A connection of somebody without a token, or not known yet.
#[derive(Debug)]
struct Stranger {
    from: Origin,
    task: AbortHandle,
}

impl Front {
    pub(super) fn new(
        server: ServerHandle,
        router: Router,
        members: mpsc::Sender<Member>,
        max_connections: usize,
    ) -> Front {
        let places = Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS)));
        Front { server, router, members, callers: Callers::new(max_connections), places, max_connections }
    }

    /// Takes connections until `stop`.
    async fn run(self, listener: std::net::TcpListener, stop: CancellationToken) {
        let mut port = match Port::from_std(listener, CONNECTIONS) {
            Ok(port) => port,
            Err(error) => return tracing::error!("Lichess: cannot listen: {error}"),
        };
        let (tracker, mut strangers) = (TaskTracker::new(), VecDeque::new());
        while let Some((stream, from)) = port.next(&stop).await {
            let from = Origin::from(from.ip());
            make_room(&mut strangers, from, (self.max_connections / 4).max(1));
            let task = tracker.spawn(self.clone().receive(stream, from, stop.clone())).abort_handle();
            strangers.push_back(Stranger { from, task });
        }
        drop((port, self));
        tracker.close();
        tracker.wait().await;
    }

    /// Serves a stranger, and hands over the connection of anybody else.
    async fn receive(self, stream: TcpStream, from: Origin, stop: CancellationToken) {
        let mut head = vec![0; HEAD];
        let peeked = stop.run_until_cancelled(timeout(FIRST_PACKET, stream.peek(&mut head))).await;
        let Some(Ok(Ok(length @ 1..))) = peeked else { return };
        let owner = match token(&head[..length]) {
            Some(token) => self.owner(token).await,
            None => None,
        };
        let Some(owner) = owner else {
            let caller = self.callers.get(CallerKey::Address(from));
            return http::serve(stream, self.router, caller, STRANGER_IDLE, stop).await;
        };
        let caller = self.callers.get(owner.clone());
        let is_crowded = caller.connections() > (self.max_connections / 4).max(1);
        match self.places.clone().try_acquire_owned() {
            Ok(place) if !is_crowded => {
                if let Ok(stream) = stream.into_std() {
                    let _ = self.members.send(Member { stream, caller, place }).await;
                }
            }
            _ => {
                tracing::warn!("Lichess: a connection of {owner} was refused: too many are open");
                let _ = stream.try_write(FULL);
            }
        }
    }

    async fn owner(&self, token: Token) -> Option<CallerKey> {
        self.server.call(move |server| server.owner(&token)).await?
    }
}

/// Closes the oldest connection if all places of strangers are taken: that of an address with half of them, if the new
/// one is from there.
fn make_room(strangers: &mut VecDeque<Stranger>, from: Origin, places: usize) {
    strangers.retain(|stranger| !stranger.task.is_finished());
    if strangers.len() < places {
        return;
    }
    let is_neighbour = |stranger: &Stranger| stranger.from == from;
    let has_half = 2 * strangers.iter().filter(|stranger| is_neighbour(stranger)).count() >= places;
    let oldest = if has_half { strangers.iter().position(is_neighbour) } else { Some(0) };
    if let Some(stranger) = oldest.and_then(|at| strangers.remove(at)) {
        stranger.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, net::IpAddr};

    use super::*;

    #[test]
    async fn strangers_never_shut_others_out() {
        let [own, other] = [1, 2].map(|number| Origin::from(IpAddr::from([127, 0, 0, number])));
        let mut strangers = VecDeque::new();
        for from in [other, own, own, own, own, own] {
            make_room(&mut strangers, from, 4);
            strangers.push_back(Stranger { from, task: tokio::spawn(pending::<()>()).abort_handle() });
        }
        let froms: Vec<_> = strangers.iter().map(|stranger| stranger.from).collect();
        assert_eq!(froms, [other, own, own, own], "an address with half of the places closes its own");
        make_room(&mut strangers, other, 4);
        assert_eq!(strangers.len(), 3);
    }
}

//! The Lichess Bot API: bots written for Lichess play here unchanged.
//!
//! ```text
//!  socket ─▶ http ─▶ api (routes) ─▶ call (caller, parameters, form) ─▶ server (accounts, challenges, games, …)
//!  socket ◀─ streams, answer ◀──────────────────────────────────────────┘ └─▶ store (PGN), storage (state file)
//! ```
//!
//! The server is one task (`actor`) that owns the state, each subject in a type and a file of its own; each connection is a
//! task. A stream is a bounded queue: a slow reader loses the oldest lines, and the stream ends with its feed.
//! Accounts in class tournaments are refereed there: see `class` and `bridge`.

use std::{path::Path, sync::Arc};

use time::OffsetDateTime;
use tokio::{sync::Semaphore, task::spawn_blocking};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_wire::lichess::UserId;

use crate::{
    error::ArenaError, jobs, name::Name, port::Port, store::GameFile, tournament::TournamentRegistry,
};

mod accounts;
mod actor;
mod answer;
mod api;
mod bridge;
mod call;
mod challenges;
mod class;
mod config;
mod dirty_map;
mod faults;
mod game;
mod games;
mod http;
mod limit;
mod presence;
mod records;
mod saved;
mod server;
mod storage;
mod streams;
mod teams;
mod terms;
mod tournaments;

pub(crate) use config::Config;

use accounts::Accounts;
use actor::{ServerActor, ServerHandle};
use bridge::Bridge;
use faults::FaultSwitch;
use saved::Restored;
use server::LichessServer;
use storage::StorageActor;

/// The answer to connections beyond the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

#[derive(Debug)]
pub(super) struct Lichess {
    pub(super) port: Port,
    max_connections: usize,
    handle: ServerHandle,
    actor: ServerActor,
    faults: FaultSwitch,
    bridges: Vec<Bridge>,
    storage: StorageActor,
}

impl Lichess {
    /// Takes the port, reads tokens and state, and creates the file for the games.
    pub(super) async fn bind(
        mut config: Config,
        games: &Path,
        max_connections: usize,
    ) -> Result<Lichess, ArenaError> {
        let port = Port::open(config.listen).await?;
        config.load_tokens().map_err(ArenaError::Config)?;
        config.listen = port.address;
        let (mut accounts, mut entrants) = (Accounts::default(), Vec::new());
        for account in std::mem::take(&mut config.account) {
            let (name, class) = (account.name.clone(), account.class.clone());
            let id = accounts
                .add(account)
                .map_err(|why| ArenaError::Config(format!("lichess: account '{name}': {why}")))?;
            if let (Some(class), Ok(name)) = (class, Name::try_from(name)) {
                entrants.push((id, name, class));
            }
        }
        let file = GameFile::create(games, "lichess", "pgn", OffsetDateTime::now_utc())?;
        let (changes, storage, rows) = storage::open(config.state.as_deref(), file)?;
        let restored = config.state.as_deref().map(|path| Restored::parse(rows, path)).transpose()?;
        let faults = FaultSwitch::new(config.faults.clone());
        let has_state = config.state.is_some();
        let mut server = LichessServer::new(config, accounts, restored, faults.clone());
        let bridge = |(account, name, tournament): (UserId, Name, Name)| {
            let orders = server.class.enter(account.clone(), name.to_string());
            Bridge { account, name, tournament, orders, game: None }
        };
        let bridges = entrants.into_iter().map(bridge).collect();
        let (handle, jobs) = jobs::channel();
        let actor = ServerActor { server, jobs, changes, has_state };
        Ok(Lichess { port, max_connections, handle, actor, faults, bridges, storage })
    }

    pub(super) async fn run(self, registry: TournamentRegistry, stop: CancellationToken) {
        let tracker = TaskTracker::new();
        for bridge in self.bridges {
            tracker.spawn(bridge.run(registry.clone(), self.handle.clone(), stop.clone()));
        }
        let storage = self.storage;
        let storage = spawn_blocking(move || storage.run());
        let actor = tokio::spawn(self.actor.run(stop.clone()));
        let router = api::router(self.handle, self.faults);
        let permits = Arc::new(Semaphore::new(self.max_connections.min(Semaphore::MAX_PERMITS)));
        while let Some((stream, _)) = self.port.next(&stop).await {
            let Ok(permit) = permits.clone().try_acquire_owned() else {
                tracing::warn!("Lichess: a connection was refused: max_connections is reached");
                let _ = stream.try_write(FULL);
                continue;
            };
            let (router, stop) = (router.clone(), stop.clone());
            tracker.spawn(async move {
                http::serve(stream, router, stop).await;
                drop(permit);
            });
        }
        drop((self.port, router));
        tracker.close();
        tracker.wait().await;
        // The writer ends with the server's task.
        for task in [actor, storage] {
            if task.await.is_err() {
                tracing::error!("a task of the Lichess API has failed; please report it");
            }
        }
    }
}

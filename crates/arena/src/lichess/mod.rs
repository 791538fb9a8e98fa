//! The Lichess Bot API: bots written for Lichess play here unchanged.
//!
//! ```text
//!  thread "lichess": socket ─▶ front ─▶ http (strangers) ─▶ api ─▶ call ─┐
//!                                │ a known token        ▲ no move         ▼
//!  the arena's thread:           └▶ http (members) ─▶ api ─▶ call ─▶ actor ─▶ server (accounts, challenges, games, …)
//!  socket ◀─ streams, answer ◀───────────────────────────────────────────┘ └─▶ database ─▶ store (PGN)
//! ```
//!
//! The server is one task (`actor`) that owns the state, each subject in a type and a file of its own; each connection
//! is a task. A stream is a bounded queue that loses no move, and ends with its feed. Whoever has no token is served on
//! a thread of usual priority, and so is each request that is no move: nobody delays the moves of others.
//! An end is told once the database has it on the disk: to the streams, and by the answers of requests of its game.
//! Accounts in class tournaments have a seat there: see `class` and `bridge`.

use std::{path::Path, time::Duration};

use time::OffsetDateTime;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_engine::priority;
use zeitnot_host::{
    hosted_game::Host,
    store::{GameFile, Store, StoreActor},
};
use zeitnot_pairing::Name;
use zeitnot_web::port::Port;
use zeitnot_wire::lichess::UserId;

use crate::{error::ArenaError, tournament::TournamentRegistry};

mod accounts;
mod actor;
mod answer;
mod api;
mod bridge;
mod call;
mod callers;
mod challenges;
mod class;
mod config;
mod dirty_map;
mod front;
mod game;
mod games;
mod http;
mod limit;
mod saved;
mod server;
mod streams;
mod terms;

pub(crate) use config::Config;

use accounts::Accounts;
use actor::{ServerActor, ServerHandle};
use bridge::Bridge;
use front::Front;
use saved::Restored;
use server::LichessServer;

/// Time for which a connection may wait for its next request.
const IDLE: Duration = Duration::from_secs(120);
/// Connections that may wait to be taken over.
const ARRIVALS: usize = 64;

#[derive(Debug)]
pub(super) struct Lichess {
    pub(super) port: Port,
    max_connections: usize,
    handle: ServerHandle,
    for_strangers: ServerHandle,
    actor: ServerActor,
    bridges: Vec<Bridge>,
    files: StoreActor,
}

impl Lichess {
    /// Takes the port, reads tokens and the state, and creates the file for the games.
    pub(super) async fn bind(
        mut config: Config,
        games: &Path,
        max_connections: usize,
        host: Host,
    ) -> Result<Lichess, ArenaError> {
        let port = Port::open(config.listen)?;
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
        let (restored, (store, files)) = match &host.database {
            Some(database) => {
                let restored = Restored::parse(database.lichess().await?);
                let restored = restored.map_err(|why| database.unusable(why))?;
                (Some(restored), Store::of_database(database, None, file))
            }
            None => (None, Store::channel(file)),
        };
        let mut server = LichessServer::new(config, accounts, restored, host);
        let bridge = |(account, name, tournament): (UserId, Name, Name)| {
            let orders = server.class.enter(account.clone(), name.clone(), tournament.clone());
            Bridge { account, name, tournament, orders, paired: None }
        };
        let bridges = entrants.into_iter().map(bridge).collect();
        if let Some(database) = server.games.database() {
            // Before the file of games is written: a game that goes on is not a broken-off one any more.
            database.commit(Vec::new()).await;
        }
        let (handle, for_strangers, queues) = actor::channel();
        let actor = ServerActor { server, queues, store, writing: JoinSet::new() };
        Ok(Lichess { port, max_connections, handle, for_strangers, actor, bridges, files })
    }

    pub(super) async fn run(self, registry: TournamentRegistry, stop: CancellationToken) {
        let (tracker, done) = (TaskTracker::new(), CancellationToken::new());
        for bridge in self.bridges {
            tracker.spawn(bridge.run(registry.clone(), self.handle.clone(), stop.clone()));
        }
        let files = self.files.spawn(priority::usual);
        let actor = tokio::spawn(self.actor.run(stop.clone()));
        let (members, mut arrivals) = mpsc::channel(ARRIVALS);
        let router = api::router(self.for_strangers, None);
        let front = Front::new(self.handle.clone(), router, members, self.max_connections);
        match front::start(self.port, front, stop.clone(), done.clone()).await {
            Ok(thread) => {
                let router = api::router(self.handle, Some(thread.runtime.clone()));
                while let Some(member) = arrivals.recv().await {
                    tracker.spawn(member.serve(router.clone(), IDLE, stop.clone()));
                }
                tracker.close();
                tracker.wait().await;
                done.cancel();
                thread.join().await;
            }
            Err(error) => {
                tracing::error!("cannot serve the Lichess API: {error}");
                stop.cancelled().await;
                tracker.close();
                tracker.wait().await;
            }
        }
        if actor.await.is_err() {
            tracing::error!("the task of the Lichess API has failed; please report it");
        }
        files.join().await;
    }
}

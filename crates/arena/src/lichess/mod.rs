//! The Lichess Bot API: programs that play on Lichess play here, and notice nothing.
//!
//! ```text
//!  socket ─▶ http (requests) ─▶ route (what is asked for) ─▶ desk (accounts, challenges, games) ─▶ store (PGN)
//!  socket ◀─ http (answers, streams) ◀─ answer, feeds ◀──────────┘
//! ```
//!
//! Accounts that play in tournaments of the class are refereed there, see `class`.
//!
//! The desk is one task that owns the state; each connection is a task. A stream is a bounded queue: its reader
//! loses the oldest lines if it is slow, and ends when the desk drops the other end.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU32},
};

use time::OffsetDateTime;
use tokio::{
    sync::{Semaphore, mpsc},
    task::spawn_blocking,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_wire::lichess::UserId;

use super::{
    ArenaError, Name,
    port::Port,
    store::{Kind, Store, StoreActor},
    tournament::Hall,
};

mod admin;
mod answer;
mod arena;
mod arenas;
mod bulk;
mod challenges;
mod class;
mod clocks;
mod computer;
mod config;
mod desk;
mod export;
mod faults;
mod game;
mod http;
mod kept;
mod limit;
mod messages;
mod open;
mod people;
mod profile;
mod rematch;
mod revoke;
mod route;
mod saved;
mod scopes;
mod society;
mod start;
mod state;

pub use clocks::Clocks;
pub use config::{AccountConfig, Config, Faults, Limits, Silence, TeamConfig, TournamentConfig};

use class::Entrant;
use desk::DeskActor;
use faults::FaultSwitch;
use http::Door;
use people::People;
use saved::Restored;
use state::{Changes, StateActor};

/// What tournaments of the class have told, and nobody has heard yet.
const QUEUE: usize = 256;
/// Who comes when there is no room.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// The server with its port and files.
#[derive(Debug)]
pub(super) struct Lichess {
    pub(super) port: Port,
    people: People,
    store: (Store, StoreActor),
    state: Option<(Changes, StateActor, Restored)>,
    places: usize,
    config: Config,
    /// Accounts, with their names, in tournaments of the class.
    classes: Vec<(UserId, Name, Name)>,
}

impl Lichess {
    /// Takes the port, reads the tokens, and makes the file for the games.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub(super) async fn bind(mut config: Config, games: &Path, places: usize) -> Result<Lichess, ArenaError> {
        let port = Port::open(config.listen).await?;
        config.load_tokens().map_err(ArenaError::Config)?;
        config.listen = port.address;
        let (mut people, mut classes) = (People::default(), Vec::new());
        for account in std::mem::take(&mut config.account) {
            let why = |why, name: &str| ArenaError::Config(format!("lichess: account '{name}': {why}"));
            let name = account.name.clone();
            let class = account.class.clone();
            let id = people.add(account).map_err(|unfit| why(unfit, &name))?;
            if let (Some(class), Ok(name)) = (class, Name::try_from(name)) {
                classes.push((id, name, class));
            }
        }
        let store = Store::open(games, "lichess", Kind::Pgn, OffsetDateTime::now_utc())?;
        let state = match &config.state {
            Some(path) => {
                let (changes, actor, rows) = state::open(path)?;
                Some((changes, actor, Restored::read(rows, path)?))
            }
            None => None,
        };
        Ok(Lichess { port, people, store, state, places, config, classes })
    }

    /// Serves until `stop`. When it returns, no task is left.
    pub(super) async fn run(self, hall: Hall, stop: CancellationToken) {
        let tracker = TaskTracker::new();
        let (ear, told) = mpsc::channel(QUEUE);
        let mut entrants = Vec::new();
        for (account, name, class) in self.classes {
            let (entrant, envoy) = Entrant::new(account, name, class, hall.clone(), ear.clone());
            entrants.push(entrant);
            tracker.spawn(envoy.run(stop.clone()));
        }
        let (store, writer) = self.store;
        let writer = spawn_blocking(move || writer.run());
        let faults = FaultSwitch::new(self.config.faults.clone());
        let (state, keeper) = match self.state {
            Some((changes, keeper, restored)) => (Some((changes, restored)), Some(keeper)),
            None => (None, None),
        };
        let keeper = spawn_blocking(move || keeper.map(StateActor::run));
        let (desk, actor) = DeskActor::channel(
            self.config,
            self.people,
            store,
            state,
            (entrants, told),
            faults.clone(),
            stop.clone(),
        );
        let actor = tokio::spawn(actor.run());
        let door = Arc::new(Door { desk, faults, requests: AtomicU32::new(0), moves: AtomicU32::new(0) });
        let places = Arc::new(Semaphore::new(self.places.min(Semaphore::MAX_PERMITS)));
        while let Some((stream, _)) = self.port.next(&stop).await {
            let Ok(place) = places.clone().try_acquire_owned() else {
                tracing::warn!("turned away from the Lichess API: max_connections is reached");
                let _ = stream.try_write(FULL);
                continue;
            };
            let (door, stop) = (door.clone(), stop.clone());
            tracker.spawn(async move {
                http::serve(stream, &door, stop).await;
                drop(place);
            });
        }
        drop((self.port, door));
        tracker.close();
        tracker.wait().await;
        // Those who write end with the desk.
        for failed in [actor.await.is_err(), writer.await.is_err(), keeper.await.is_err()] {
            if failed {
                tracing::error!("a task of the Lichess API has failed; please report it");
            }
        }
    }
}

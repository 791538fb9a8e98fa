//! IMCS: the Internet MiniChess Server, as people and programs know it: they offer and accept games.
//!
//! ```text
//!  socket ─▶ guest (commands) ─▶ desk (users, offers, games) ─▶ game (board, clocks, result)
//!                 └────────────── hands its connection over ──────▲          │
//!           book (users' file), store (games) ◀── desk (ratings) ◀───────────┘
//! ```
//!
//! The desk is one task that owns the state; each guest and each game is a task. A game owns the connections
//! of its players, and closes them at its end: so the protocol wants it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use time::OffsetDateTime;
use tokio::{sync::Semaphore, task::spawn_blocking};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_net as net;

use crate::{
    error::ArenaError,
    port::Port,
    store::{Kind, Store, StoreActor},
};

mod book;
mod connection;
mod desk;
mod game;
mod guest;

use book::Book;
use connection::Connection;
use desk::DeskActor;
use guest::Guest;

/// Who comes when there is no room.
const FULL: &[u8] = b"503 too many connections, come back later\r\n";
/// The longest clock that can be offered: a day.
const LONGEST_CLOCK: Duration = Duration::from_secs(86_400);

/// The `[arena.imcs]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen; the protocol's usual port is 3589.
    pub listen: SocketAddr,
    /// The file of names, passwords and ratings; made when somebody registers. The protocol knows passwords
    /// in the clear only, and so does the file.
    #[serde(default = "users")]
    pub users: PathBuf,
    /// The clock of both sides, where an offer says nothing.
    #[serde(default = "time", with = "humantime_serde")]
    pub time: Duration,
    /// How long a line is waited for when the clock has run out. Not in the file: the protocol says how long.
    #[serde(skip, default = "late")]
    pub late: Duration,
}

fn users() -> PathBuf {
    "imcs-users.txt".into()
}

fn time() -> Duration {
    Duration::from_secs(300)
}

fn late() -> Duration {
    Duration::from_secs(10)
}

impl Config {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.time.is_zero() || self.time > LONGEST_CLOCK || self.time.subsec_nanos() != 0 {
            return Err("imcs: time is to be whole seconds, from one second to a day".into());
        }
        Ok(())
    }
}

/// The server with its port and files.
#[derive(Debug)]
pub(super) struct Imcs {
    pub(super) port: Port,
    book: Book,
    store: (Store, StoreActor),
    places: usize,
    config: Config,
}

impl Imcs {
    /// Takes the port, reads the users, and makes the file for the games.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub(super) async fn bind(config: Config, games: &Path, places: usize) -> Result<Imcs, ArenaError> {
        let port = Port::open(config.listen).await?;
        let book = Book::open(&config.users)?;
        let store = Store::open(games, "imcs", Kind::Text, OffsetDateTime::now_utc())?;
        Ok(Imcs { port, book, store, places, config })
    }

    /// Serves until `stop`, or until the administrator stops it. When it returns, no task is left.
    pub(super) async fn run(self, stop: CancellationToken) {
        let (stop, tracker) = (stop.child_token(), TaskTracker::new());
        let (store, writer) = self.store;
        let writer = spawn_blocking(move || writer.run());
        let (users, saved) = book::saver(self.config.users.clone());
        let saved = tokio::spawn(saved.run());
        let (desk, actor) =
            DeskActor::channel(self.book, users, store, self.config, tracker.clone(), stop.clone());
        let actor = tokio::spawn(actor.run());

        let places = Arc::new(Semaphore::new(self.places.min(Semaphore::MAX_PERMITS)));
        while let Some((stream, _)) = self.port.next(&stop).await {
            let Ok(place) = places.clone().try_acquire_owned() else {
                tracing::warn!("turned away from IMCS: max_connections is reached");
                let _ = stream.try_write(FULL);
                continue;
            };
            match net::over_telnet(stream) {
                Ok(halves) => {
                    let guest = Guest::new(Connection::new(halves, place), desk.clone(), stop.clone());
                    tracker.spawn(guest.serve());
                }
                Err(error) => tracing::debug!(%error, "no connection"),
            }
        }
        drop((self.port, desk));
        tracker.close();
        tracker.wait().await;
        // Each of them ends with the one before it.
        for ended in [actor.await.is_err(), saved.await.is_err(), writer.await.is_err()] {
            if ended {
                tracing::error!("a task of IMCS has failed; please report it");
            }
        }
    }
}

//! The arena's database: tournaments, games and the state of the Lichess API in an SQLite file or on a PostgreSQL server,
//! which survive a kill at any moment.
//!
//! ```text
//!  tournament, game ─ changes ─▶ Database ─ a bounded queue ─▶ thread "database": writer ─▶ file or server
//!        ▲                                                              │ "on the disk"      │
//!        └──────────────────────────────────────────────────────────────┘   results, page: Reader
//! ```
//!
//! Each [`Change`] is the new value of one row. [`Database::note`] hands over what nobody waits for, such as moves: it is
//! written within a second. [`Database::commit`] returns when the changes are on the disk: players hear of a result
//! only then. While the disk or the server fails, games go on, and the writer keeps the changes and tries again.
//!
//! The SQL is the same for both, by `sqlx::Any`. They differ in how they are opened (`sqlite.rs`, `postgres.rs`) and in who
//! else may write: a file has one arena, and of a server each arena has its own part (`ownership.rs`).
//!
//! Something new: a column or table is a further file in `migrations/`; a further kind of event is a variant of [`Fact`]
//! with a line in `write.rs` and in `tournaments.rs`.

use std::{sync::Arc, thread, time::Duration};

use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};
use zeitnot_pairing::Name;

mod change;
mod check;
mod error;
mod exports;
mod games;
mod location;
mod open;
mod opening;
mod ownership;
mod pending;
mod postgres;
mod read;
mod readers;
#[cfg(feature = "simulation")]
pub mod simulation;
mod sqlite;
#[cfg(test)]
mod tests;
mod tournaments;
mod write;
mod writer;

pub use change::{
    Change, ExportFile, FORFEIT, Fact, GameEnd, GameHeader, GameRow, LichessKind, LichessRow, MoveList,
    Place, RefusalRecord, SettingsText, Subject, TournamentId, TournamentState,
};
pub use error::DatabaseError;
pub(crate) use exports::Unexported;
pub use games::{FoundGame, GameCursor};
pub use location::{BadLocation, DatabaseLocation, ServerUrl};
pub use opening::{Opened, Opening};
pub use read::Reader;
pub use readers::{Readers, Turn};
pub use tournaments::{History, Step, StoredOutcome, StoredTournament};
pub use write::moment;

pub use crate::live::view::{Person, Source};

use exports::ExportTurns;
use writer::{Request, Writer};

/// Requests that may wait for the writer.
const QUEUE: usize = 4096;
/// Maximum time to wait for the disk.
pub const MAX_WAIT: Duration = Duration::from_secs(5);
/// Time for which a server may hold an arena for alive that has just been killed.
const MAX_MOURNING: Duration = Duration::from_secs(2);
/// Time between two attempts meanwhile.
const RETRY: Duration = Duration::from_millis(100);

/// Reason why an arena cannot start, or go on, with its database.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
#[error("cannot use the database {location}: {why}")]
pub struct UnusableDatabase {
    pub location: DatabaseLocation,
    pub why: DatabaseError,
}

impl UnusableDatabase {
    /// Returns whether another arena on the same database has what is asked for.
    pub fn is_taken(&self) -> bool {
        matches!(self.why, DatabaseError::Taken { .. })
    }
}

/// Access to the writer.
#[derive(Clone, Debug)]
pub struct Database {
    requests: mpsc::Sender<Request>,
    location: Arc<DatabaseLocation>,
    opened: Instant,
    exports: ExportTurns,
}

/// Access that does not keep the writer running: of a thread that may hang.
#[derive(Clone, Debug)]
pub struct WeakDatabase {
    requests: mpsc::WeakSender<Request>,
    location: Arc<DatabaseLocation>,
    opened: Instant,
    exports: ExportTurns,
}

impl WeakDatabase {
    /// Returns the access while the arena runs.
    pub fn upgrade(&self) -> Option<Database> {
        let WeakDatabase { requests, location, opened, exports } = self.clone();
        Some(Database { requests: requests.upgrade()?, location, opened, exports })
    }

    /// Does the same as [`Database::commit`] while the arena runs.
    pub(crate) async fn commit(&self, changes: Vec<Change>) {
        if let Some(database) = self.upgrade() {
            database.commit(changes).await;
        }
    }

    /// Returns the place, for a [`Reader`].
    pub(crate) fn location(&self) -> &DatabaseLocation {
        &self.location
    }
}

/// The writer's thread, which ends when no [`Database`] is left.
#[derive(Debug)]
pub struct WriterThread(thread::JoinHandle<()>);

impl WriterThread {
    /// Waits until everything is written.
    pub async fn join(self) {
        let joined = spawn_blocking(move || self.0.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the database's writer has failed; please report it");
        }
    }
}

impl Database {
    /// Opens or creates the database, and starts its writer, whose thread begins with `on_start`: it sets its priority.
    pub async fn open(
        location: DatabaseLocation,
        on_start: fn(),
    ) -> Result<(Database, WriterThread), UnusableDatabase> {
        let (requests, queue) = mpsc::channel(QUEUE);
        let (opened, is_open) = oneshot::channel();
        let opening = location.clone();
        let thread = thread::Builder::new().name("database".into()).spawn(move || {
            on_start();
            let run = async {
                match Writer::open(opening, queue).await {
                    Ok(writer) => {
                        let _ = opened.send(Ok(()));
                        writer.run().await;
                    }
                    Err(error) => drop(opened.send(Err(error))),
                }
            };
            match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(run),
                Err(error) => tracing::error!("cannot start the database's writer: {error}"),
            }
        });
        let opened = match thread {
            Ok(thread) => match is_open.await {
                Ok(opened) => opened.map(|()| thread),
                Err(_) => Err(DatabaseError::Other("its writer did not start".into())),
            },
            Err(error) => Err(error.into()),
        };
        match opened {
            Ok(thread) => Ok((Database::of(requests, location), WriterThread(thread))),
            Err(why) => Err(UnusableDatabase { location, why }),
        }
    }

    fn of(requests: mpsc::Sender<Request>, location: DatabaseLocation) -> Database {
        let (opened, exports) = (Instant::now(), ExportTurns::default());
        Database { requests, location: location.into(), opened, exports }
    }

    /// Returns access for whoever must not keep the writer alive.
    pub fn downgrade(&self) -> WeakDatabase {
        let Database { requests, location, opened, exports } = self.clone();
        WeakDatabase { requests: requests.downgrade(), location, opened, exports }
    }

    /// Hands over changes that are to be on the disk soon. Never waits: they are lost if the disk has hung for so long
    /// that thousands wait.
    pub fn note(&self, changes: Vec<Change>) {
        if let Err(mpsc::error::TrySendError::Full(_)) =
            self.requests.try_send(Request::Write { changes, done: None })
        {
            tracing::debug!("a change is lost: {} is too slow", self.location);
        }
    }

    /// Hands over changes and waits until they are on the disk, or the disk has failed, as the log says; then they are
    /// written later. A dropped future has handed them over if it was polled, unless thousands wait.
    pub async fn commit(&self, changes: Vec<Change>) {
        let (done, written) = oneshot::channel();
        let commit = async {
            let sent = self.requests.send(Request::Write { changes, done: Some(done) }).await;
            if sent.is_ok() {
                let _ = written.await;
            }
        };
        if timeout(MAX_WAIT, commit).await.is_err() {
            tracing::error!("the database {} has not answered for {MAX_WAIT:?}; games go on", self.location);
        }
    }

    /// Takes up the tournament of that name, or begins a new edition if there is none or the last is complete.
    pub async fn open_tournament(&self, opening: Opening) -> Result<Opened, UnusableDatabase> {
        self.ask(|reply| Request::Tournament { opening: opening.clone(), reply }).await
    }

    /// Takes a state that one arena has at a time.
    async fn take(&self, subject: Subject) -> Result<(), UnusableDatabase> {
        self.ask(|reply| Request::Take { subject, reply }).await
    }

    /// Asks the writer for what one arena has at a time. Another one that has it may have been killed just now: at first
    /// it is asked again.
    async fn ask<T>(
        &self,
        request: impl Fn(oneshot::Sender<Result<T, DatabaseError>>) -> Request,
    ) -> Result<T, UnusableDatabase> {
        loop {
            let (reply, answer) = oneshot::channel();
            let _ = self.requests.send(request(reply)).await;
            let gone = |_| DatabaseError::Other("its writer is gone".into());
            match answer.await.map_err(gone).flatten() {
                Err(DatabaseError::Taken { .. }) if self.opened.elapsed() < MAX_MOURNING => {
                    sleep(RETRY).await
                }
                answer => return answer.map_err(|why| self.unusable(why)),
            }
        }
    }

    /// Returns the tournaments that the organiser has created and that are not complete, with their settings.
    pub async fn created(&self) -> Result<Vec<(Name, SettingsText)>, UnusableDatabase> {
        let created = async { Reader::open(&self.location).await?.created().await };
        created.await.map_err(|why| self.unusable(why))
    }

    /// Returns the place, for a [`Reader`].
    pub fn location(&self) -> &Arc<DatabaseLocation> {
        &self.location
    }

    /// Returns the refusals of no tournament. One arena has them; others begin without, and keep none.
    pub async fn refusals(&self) -> Result<Vec<RefusalRecord>, UnusableDatabase> {
        if let Err(error) = self.take(Subject::Refusals).await {
            return if error.is_taken() { Ok(Vec::new()) } else { Err(error) };
        }
        let refusals = async { Reader::open(&self.location).await?.refusals().await };
        refusals.await.map_err(|why| self.unusable(why))
    }

    /// Returns the names of the tournaments with games that are over and in no file, unless another arena has them.
    pub(crate) async fn unexported(&self) -> Result<Vec<Name>, DatabaseError> {
        let mut reader = Reader::open(&self.location).await?;
        let found = reader.unexported_tournaments().await;
        reader.close().await;
        let mut names = Vec::new();
        for (name, latest) in found? {
            match self.take(Subject::Tournament(latest)).await {
                Ok(()) => names.push(name),
                Err(error) if error.is_taken() => {}
                Err(error) => return Err(error.why),
            }
        }
        Ok(names)
    }

    /// Takes the state of the Lichess API, and returns it.
    pub async fn lichess(&self) -> Result<Vec<LichessRow>, UnusableDatabase> {
        self.take(Subject::Lichess).await?;
        let rows = async { Reader::open(&self.location).await?.lichess().await };
        rows.await.map_err(|why| self.unusable(why))
    }

    /// Returns the error of an arena that cannot go on with this database.
    pub fn unusable(&self, why: DatabaseError) -> UnusableDatabase {
        UnusableDatabase { location: (*self.location).clone(), why }
    }
}

//! The arena's database: tournaments, games and the state of the Lichess API in one SQLite file that survives a kill at
//! any moment.
//!
//! ```text
//!  tournament, game ─ changes ─▶ Database ─ a bounded queue ─▶ thread "database": writer ─▶ file
//!        ▲                                                              │ "on the disk"      │
//!        └──────────────────────────────────────────────────────────────┘   results, page: Reader
//! ```
//!
//! Each [`Change`] is the new value of one row. [`Database::note`] hands over what nobody waits for, such as moves: it is
//! written within a second. [`Database::commit`] returns when the changes are on the disk: players hear of a result
//! only then. While the disk fails, games go on, and the writer keeps the changes and tries again.
//!
//! Something new: a column or table is a further file in `migrations/`; a further kind of event is a variant of [`Fact`]
//! with a line in `write.rs` and in `read.rs`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    task::spawn_blocking,
    time::timeout,
};
use zeitnot_engine::priority;

use crate::{error::ArenaError, name::Name};

mod change;
mod error;
mod open;
mod read;
mod recorder;
#[cfg(test)]
mod tests;
mod write;
mod writer;

pub(crate) use change::{
    Change, FORFEIT, Fact, GameEnd, GameHeader, GameState, LichessKind, LichessRow, MoveList, Place,
    RefusalRecord, SettingsText, Source, TournamentId, TournamentState,
};
pub use error::DatabaseError;
pub(crate) use read::{History, Reader, Step, StoredTournament};
pub(crate) use recorder::GameRecorder;
pub(crate) use write::moment;
pub(crate) use writer::{Opened, Opening};

use writer::{Request, Writer};

/// Requests that may wait for the writer.
const QUEUE: usize = 4096;
/// Maximum time to wait for the disk.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(5);

/// Access to the writer.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    requests: mpsc::Sender<Request>,
    path: Arc<PathBuf>,
}

/// The writer's thread, which ends when no [`Database`] is left.
#[derive(Debug)]
pub(crate) struct WriterThread(thread::JoinHandle<()>);

impl WriterThread {
    /// Waits until everything is written.
    pub(crate) async fn join(self) {
        let joined = spawn_blocking(move || self.0.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the database's writer has failed; please report it");
        }
    }
}

impl Database {
    /// Opens or creates the file, and starts its writer.
    pub(crate) async fn open(path: PathBuf) -> Result<(Database, WriterThread), ArenaError> {
        let (requests, queue) = mpsc::channel(QUEUE);
        let (opened, is_open) = oneshot::channel();
        let file = path.clone();
        let thread = thread::Builder::new().name("database".into()).spawn(move || {
            priority::usual();
            let run = async {
                match Writer::open(file, queue).await {
                    Ok(writer) => {
                        let _ = opened.send(Ok(()));
                        writer.run().await;
                    }
                    Err(error) => drop(opened.send(Err(error))),
                }
            };
            match runtime::Builder::new_current_thread().enable_time().build() {
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
            Ok(thread) => Ok((Database { requests, path: path.into() }, WriterThread(thread))),
            Err(why) => Err(ArenaError::Database { path, why }),
        }
    }

    /// Hands over changes that are to be on the disk soon. Never waits: they are lost if the disk has hung for so long
    /// that thousands wait.
    pub(crate) fn note(&self, changes: Vec<Change>) {
        if let Err(mpsc::error::TrySendError::Full(_)) =
            self.requests.try_send(Request::Write { changes, done: None })
        {
            tracing::debug!("a change is lost: {} is too slow", self.path.display());
        }
    }

    /// Hands over changes and waits until they are on the disk, or the disk has failed, as the log says; then they are
    /// written later. A dropped future has handed them over if it was polled, unless thousands wait.
    pub(crate) async fn commit(&self, changes: Vec<Change>) {
        let (done, written) = oneshot::channel();
        let commit = async {
            let sent = self.requests.send(Request::Write { changes, done: Some(done) }).await;
            if sent.is_ok() {
                let _ = written.await;
            }
        };
        if timeout(MAX_WAIT, commit).await.is_err() {
            tracing::error!(
                "the database {} has not answered for {MAX_WAIT:?}; games go on",
                self.path.display()
            );
        }
    }

    /// Takes up the tournament of that name, or begins a new edition if there is none or the last is complete.
    pub(crate) async fn open_tournament(&self, opening: Opening) -> Result<Opened, ArenaError> {
        let (reply, opened) = oneshot::channel();
        let _ = self.requests.send(Request::Tournament { opening, reply }).await;
        let gone = |_| DatabaseError::Other("its writer is gone".into());
        opened.await.map_err(gone).flatten().map_err(|why| self.unusable(why))
    }

    /// Returns the tournaments that the organiser has created and that are not complete, with their settings.
    pub(crate) async fn created(&self) -> Result<Vec<(Name, SettingsText)>, ArenaError> {
        let created = async { Reader::open(&self.path).await?.created().await };
        created.await.map_err(|why| self.unusable(why))
    }

    /// Returns the file, for a [`Reader`].
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the refusals of no tournament.
    pub(crate) async fn refusals(&self) -> Result<Vec<RefusalRecord>, ArenaError> {
        let refusals = async { Reader::open(&self.path).await?.refusals().await };
        refusals.await.map_err(|why| self.unusable(why))
    }

    /// Returns the state of the Lichess API.
    pub(crate) async fn lichess(&self) -> Result<Vec<LichessRow>, ArenaError> {
        let rows = async { Reader::open(&self.path).await?.lichess().await };
        rows.await.map_err(|why| self.unusable(why))
    }

    /// Returns the error of an arena that cannot go on with this database.
    pub(crate) fn unusable(&self, why: DatabaseError) -> ArenaError {
        ArenaError::Database { path: self.path.to_path_buf(), why }
    }
}

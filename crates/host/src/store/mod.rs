//! Files of finished games: one for each tournament or front and run, one append for each game.
//!
//! Disks can be slow or hang, so each file is written by a thread of its own, which nothing waits for. The games of
//! tournaments and of the Lichess API come from the database, which keeps what is not in a file yet (`export.rs`). Without
//! a database, and of fronts with records of their own, they wait in a queue. If a game is in the database and in no file, and
//! no arena runs its tournament, the next start writes it.

use std::{collections::BTreeSet, path::PathBuf, thread};

use time::OffsetDateTime;
use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    time::timeout,
};
use zeitnot_net::RecordQueue;
use zeitnot_pairing::Name;

use crate::database::{Database, MAX_WAIT, WeakDatabase};

mod export;
mod file;
mod tail;

use export::{Exporter, retry};
pub use file::{GameFile, UnusableFolder};

/// Games without a database that may wait for the disk.
const QUEUE: usize = 1024;

/// Prints a game.
type Print = Box<dyn FnOnce() -> String + Send>;

/// Hands over games that are over.
#[derive(Clone, Debug)]
pub enum Store {
    /// Games that stand in no database wait here.
    Queue(mpsc::Sender<Print>),
    /// Wakes the exporter, which finds the game in the database.
    Database(mpsc::Sender<()>),
}

/// Writes what [`Store`] hands over.
#[allow(missing_docs)]
#[derive(Debug)]
pub enum StoreActor {
    Queue(mpsc::Receiver<Print>, GameFile),
    Database(Exporter, mpsc::Receiver<()>),
}

/// Thread that writes a file.
#[derive(Debug)]
pub struct StoreThread {
    path: PathBuf,
    /// Keeps the database's writer running until the last games are marked there.
    _database: Option<Database>,
    done: oneshot::Receiver<Option<PathBuf>>,
}

impl Store {
    /// Creates the store of games that stand in no database.
    pub fn channel(file: GameFile) -> (Store, StoreActor) {
        let (sender, games) = mpsc::channel(QUEUE);
        (Store::Queue(sender), StoreActor::Queue(games, file))
    }

    /// Creates the store of the games of a tournament, or of the Lichess API, in the database.
    pub fn of_database(database: &Database, tournament: Option<Name>, file: GameFile) -> (Store, StoreActor) {
        let (sender, wake) = mpsc::channel(1);
        let exporter = Exporter::new(database.downgrade(), tournament, file);
        (Store::Database(sender), StoreActor::Database(exporter, wake))
    }

    /// Hands over a game, which is in the database if there is one. Never waits: without a database the game is lost if
    /// the disk has hung for so long that a thousand wait.
    pub fn write(&self, print: impl FnOnce() -> String + Send + 'static) {
        match self {
            Store::Queue(games) => {
                if let Err(mpsc::error::TrySendError::Full(_)) = games.try_send(Box::new(print)) {
                    tracing::error!(
                        "a game is lost: {QUEUE} others wait for their file; check whether the disk hangs"
                    );
                }
            }
            // If there is no room, the exporter has not looked since the last time.
            Store::Database(wake) => drop(wake.try_send(())),
        }
    }
}

impl StoreActor {
    /// Starts a thread that writes until no sender is left, and begins with `on_start`: it sets its priority.
    pub fn spawn(self, on_start: fn()) -> StoreThread {
        let (path, database) = match &self {
            StoreActor::Queue(_, file) => (file.path(), None),
            StoreActor::Database(exporter, _) => (exporter.file.path(), exporter.database.upgrade()),
        };
        StoreThread::spawn(path.to_owned(), database, on_start, self.run())
    }

    async fn run(self) -> Option<PathBuf> {
        match self {
            StoreActor::Queue(games, file) => write_queue(games, file).await,
            StoreActor::Database(exporter, mut wake) => exporter.run(&mut wake, true).await,
        }
    }
}

/// Writes what comes; what cannot be written is tried again with the next game, and at the end.
async fn write_queue(mut games: mpsc::Receiver<Print>, mut file: GameFile) -> Option<PathBuf> {
    let mut unwritten = RecordQueue::default();
    // The file reports its failures.
    while let Some(print) = games.recv().await {
        unwritten.push(print());
        let _ = unwritten.write(|game: &String| file.append(game));
    }
    let _ = unwritten.write(|game| file.append(game));
    file.report_lost(unwritten.missing());
    file.finish()
}

/// Writes the games of these tournaments, one tournament after the other.
async fn catch_up(
    database: WeakDatabase,
    running: BTreeSet<Name>,
    folder: PathBuf,
    mut wake: mpsc::Receiver<()>,
) {
    let names = loop {
        let Some(open) = database.upgrade() else { return };
        match open.unexported().await {
            Ok(names) => break names,
            // The writer reports it.
            Err(error) if error.is_outage() => {}
            Err(error) => {
                let location = open.location();
                tracing::error!("{location}: cannot look for games that are in no file: {error}");
                return;
            }
        }
        drop(open);
        if !retry(&mut wake).await {
            return;
        }
    };
    for name in names.into_iter().filter(|name| !running.contains(name)) {
        let mut is_told = false;
        let file = loop {
            match GameFile::create(&folder, name.as_str(), "pgn", OffsetDateTime::now_utc()) {
                Ok(file) => break file,
                Err(error) if !is_told => {
                    tracing::error!("{name}: {error}; retrying until its last games are written")
                }
                Err(_) => {}
            }
            is_told = true;
            if !retry(&mut wake).await {
                return;
            }
        };
        if let Some(file) =
            Exporter::new(database.clone(), Some(name.clone()), file).run(&mut wake, false).await
        {
            tracing::info!("{name}: wrote the last games to {}", file.display());
        }
    }
}

impl StoreThread {
    /// Starts a thread that writes the games which the database has and no file: of tournaments other than the running
    /// ones, until all are written or the sender is dropped.
    pub fn catch_up(
        database: &Database,
        running: BTreeSet<Name>,
        folder: PathBuf,
        on_start: fn(),
    ) -> (Store, StoreThread) {
        let (sender, wake) = mpsc::channel(1);
        let write = catch_up(database.downgrade(), running, folder.clone(), wake);
        let write = async {
            write.await;
            None
        };
        (Store::Database(sender), StoreThread::spawn(folder, Some(database.clone()), on_start, write))
    }

    /// Starts a thread that writes this file, and begins with `on_start`.
    fn spawn(
        path: PathBuf,
        database: Option<Database>,
        on_start: fn(),
        write: impl Future<Output = Option<PathBuf>> + Send + 'static,
    ) -> StoreThread {
        let (done, is_done) = oneshot::channel();
        let thread = thread::Builder::new().name("games".into()).spawn(move || {
            on_start();
            match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => drop(done.send(runtime.block_on(write))),
                Err(error) => tracing::error!("cannot start the writer of games: {error}"),
            }
        });
        if let Err(error) = thread {
            tracing::error!("cannot start the writer of games: {error}");
        }
        StoreThread { path, _database: database, done: is_done }
    }

    /// Waits until all is written, but not for ever; returns the file, if there were games.
    pub async fn join(self) -> Option<PathBuf> {
        match timeout(MAX_WAIT, self.done).await {
            Ok(done) => done.ok().flatten(),
            Err(_) => {
                let path = self.path.display();
                tracing::error!(
                    "{path}: writing the last games takes too long; those in the database will be written at the next start"
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;

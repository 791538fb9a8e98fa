//! Files of finished games: one for each tournament or front and run, one append for each game.
//!
//! Disks can be slow or hang, so each file is written by a thread of its own, which nothing waits for. The games of
//! tournaments and of the Lichess API come from the database, which keeps what is not in a file yet (`export.rs`). Without
//! a database, and of fronts with records of their own, they wait in a queue.

use std::{path::PathBuf, thread};

use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    time::timeout,
};
use zeitnot_net::RecordQueue;
use zeitnot_pairing::Name;

use crate::database::{Database, MAX_WAIT};

mod export;
mod file;

use export::Exporter;
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
    Database(Exporter),
}

/// Thread that writes a file.
#[derive(Debug)]
pub struct StoreThread {
    path: PathBuf,
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
        (Store::Database(sender), StoreActor::Database(Exporter::new(database, tournament, file, wake)))
    }

    /// Hands over a game, which is in the database if there is one. Never waits: without a database the game is lost if
    /// the disk has hung for so long that a thousand wait.
    pub fn write(&self, print: impl FnOnce() -> String + Send + 'static) {
        match self {
            Store::Queue(games) => {
                if let Err(mpsc::error::TrySendError::Full(_)) = games.try_send(Box::new(print)) {
                    tracing::error!("a game is lost, as its file takes none: see whether the disk hangs");
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
        let (StoreActor::Queue(_, file) | StoreActor::Database(Exporter { file, .. })) = &self;
        let path = file.path().to_owned();
        let (done, is_done) = oneshot::channel();
        let thread = thread::Builder::new().name("games".into()).spawn(move || {
            on_start();
            match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => drop(done.send(runtime.block_on(self.run()))),
                Err(error) => tracing::error!("cannot start the writer of games: {error}"),
            }
        });
        if let Err(error) = thread {
            tracing::error!("cannot start the writer of games: {error}");
        }
        StoreThread { path, done: is_done }
    }

    async fn run(self) -> Option<PathBuf> {
        match self {
            StoreActor::Queue(games, file) => write_queue(games, file).await,
            StoreActor::Database(exporter) => exporter.run().await,
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

impl StoreThread {
    /// Waits until all is written, but not for ever; returns the file, if there were games.
    pub async fn join(self) -> Option<PathBuf> {
        match timeout(MAX_WAIT, self.done).await {
            Ok(done) => done.ok().flatten(),
            Err(_) => {
                let path = self.path.display();
                tracing::error!(
                    "{path} does not take the last games; those in the database are written at the next start"
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! The cache's durable part: an embedded database on a thread of its own, written behind.
//!
//! What can go wrong with it costs what it holds, never a game: a file that cannot be read is set aside, one
//! that is in use is left alone, and a disk that takes nothing more is reported once.

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
};
use tokio::sync::oneshot;

use zeitnot_engine::priority;

use super::entry::{Bytes, Entry};

/// By the name of the game and the key of the position.
const MOVES: TableDefinition<(&str, u64), &[u8]> = TableDefinition::new("moves");
/// By the name of the server.
const LAGS: TableDefinition<&str, &[u8]> = TableDefinition::new("lags");

/// What waits to be written or looked up; beyond it, new things are dropped.
const QUEUE: usize = 4096;
/// What was told is on the disk after this time, and what a sync takes.
const BEHIND: Duration = Duration::from_millis(500);
/// So much is written at once, at most.
const BATCH: usize = 1024;
/// What is left unwritten at the end gets this long.
const GOODBYE: Duration = Duration::from_secs(2);
/// Where there are too many entries, the oldest tenth goes.
const TRIM: u64 = 10;

/// A position, as the store knows it.
pub(super) type At = (&'static str, u64);

/// Reaches the database. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Store {
    tasks: SyncSender<Task>,
}

#[derive(Debug)]
enum Task {
    Move(At, Bytes),
    Lag(String, Vec<u8>),
    LookUp(At, oneshot::Sender<Option<Entry>>),
    Close(SyncSender<()>),
}

/// A database that was opened.
pub(super) struct Opened {
    pub database: Database,
    /// What is known of servers.
    pub lags: Vec<(String, Vec<u8>)>,
}

/// Opens the file; `None`, with a word in the log, if it cannot be used.
pub(super) fn open(path: &Path) -> Option<Opened> {
    match try_open(path) {
        Ok(opened) => Some(opened),
        Err(redb::Error::DatabaseAlreadyOpen) => {
            tracing::warn!(
                "{}: another program has it open; playing without it (set another `file` in [cache])",
                path.display()
            );
            None
        }
        Err(error) if !is_damage(&error) => {
            tracing::warn!("{}: {error}; playing without it", path.display());
            None
        }
        Err(error) => {
            let aside = aside(path);
            match fs::rename(path, &aside) {
                Ok(()) => tracing::warn!(
                    "{}: {error}; set aside as {}, beginning a new one",
                    path.display(),
                    aside.display()
                ),
                Err(stuck) => {
                    tracing::warn!(
                        "{}: {error}, and it cannot be set aside ({stuck}); playing without it",
                        path.display()
                    );
                    return None;
                }
            }
            try_open(path)
                .inspect_err(|error| tracing::warn!("{}: {error}; playing without it", path.display()))
                .ok()
        }
    }
}

/// A damaged file may also make the database panic: that is one more way to be unreadable.
fn try_open(path: &Path) -> Result<Opened, redb::Error> {
    let open = || -> Result<Opened, redb::Error> {
        let database = Database::create(path).map_err(|error| match error {
            DatabaseError::Storage(redb::StorageError::Io(error)) => redb::Error::Io(error),
            other => other.into(),
        })?;
        let write = database.begin_write()?;
        {
            write.open_table(MOVES)?;
            write.open_table(LAGS)?;
        }
        write.commit()?;
        let read = database.begin_read()?;
        let mut lags = Vec::new();
        for lag in read.open_table(LAGS)?.iter()? {
            let (server, summary) = lag?;
            lags.push((server.value().to_owned(), summary.value().to_owned()));
        }
        Ok(Opened { database, lags })
    };
    catch_unwind(AssertUnwindSafe(open))
        .unwrap_or_else(|_| Err(redb::Error::Corrupted("it is damaged".into())))
}

/// Does the error speak of what stands in the file, rather than of the disk or of us?
fn is_damage(error: &redb::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error {
        redb::Error::Io(error) => matches!(error.kind(), InvalidData | UnexpectedEof | InvalidInput),
        redb::Error::Corrupted(_)
        | redb::Error::UpgradeRequired(_)
        | redb::Error::RepairAborted
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TypeDefinitionChanged { .. } => true,
        _ => false,
    }
}

fn aside(path: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".broken-{now}"));
    name.into()
}

impl Store {
    /// Starts the thread. First it gives `load` what is there, as long as that wants more, and says at the
    /// end whether that was all.
    ///
    /// # Errors
    /// Those of starting a thread.
    pub fn start(
        database: Database,
        most: u64,
        load: impl FnMut(&str, u64, Entry) -> bool + Send + 'static,
        loaded: impl FnOnce(bool) + Send + 'static,
    ) -> io::Result<Store> {
        let (tasks, inbox) = sync_channel(QUEUE);
        thread::Builder::new().name("cache".into()).spawn(move || {
            priority::usual();
            let mut writer = Writer { database, most, complained: false };
            match writer.load(load) {
                Ok(all) => loaded(all),
                Err(error) => writer.complain(&error),
            }
            // What the file holds can make the database panic; then play goes on without it.
            let done = catch_unwind(AssertUnwindSafe(|| writer.run(&inbox))).unwrap_or_else(|_| {
                tracing::warn!("the cache's file is damaged; playing on from memory");
                None
            });
            // The file is free before anybody is told that it is.
            drop((writer, inbox));
            if let Some(done) = done {
                let _ = done.send(());
            }
        })?;
        Ok(Store { tasks })
    }

    /// Keeps an entry, some time soon. `false`: too much waits already.
    pub fn keep(&self, at: At, entry: Entry) -> bool {
        self.tasks.try_send(Task::Move(at, entry.to_bytes())).is_ok()
    }

    /// Keeps what is known of a server.
    pub fn keep_lag(&self, server: &str, summary: Vec<u8>) -> bool {
        self.tasks.try_send(Task::Lag(server.to_owned(), summary)).is_ok()
    }

    /// Asks for an entry.
    pub fn look_up(&self, at: At) -> Option<oneshot::Receiver<Option<Entry>>> {
        let (reply, answer) = oneshot::channel();
        self.tasks.try_send(Task::LookUp(at, reply)).ok().map(|()| answer)
    }

    /// Writes what still waits, and returns when the file is closed, or after two seconds.
    pub fn close(&self) {
        let (done, wait) = sync_channel(1);
        let end = Instant::now() + GOODBYE;
        let mut close = Task::Close(done);
        // A disk that hangs may have filled the queue.
        while let Err(TrySendError::Full(task)) = self.tasks.try_send(close) {
            if Instant::now() >= end {
                return;
            }
            close = task;
            thread::sleep(Duration::from_millis(10));
        }
        // Late or not: there is nothing more to be done.
        let _ = wait.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}

/// The thread's own.
struct Writer {
    database: Database,
    /// Entries on the disk, at most.
    most: u64,
    complained: bool,
}

impl Writer {
    fn load(&self, mut load: impl FnMut(&str, u64, Entry) -> bool) -> Result<bool, redb::Error> {
        let read = self.database.begin_read()?;
        for kept in read.open_table(MOVES)?.iter()? {
            let (at, bytes) = kept?;
            let (game, key) = at.value();
            if let Some(entry) = Entry::from_bytes(bytes.value())
                && !load(game, key, entry)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Works until it is told to close, or nobody is left who could ask for anything. Tells whom to tell.
    fn run(&mut self, inbox: &Receiver<Task>) -> Option<SyncSender<()>> {
        let mut batch = Vec::new();
        let mut due: Option<Instant> = None;
        loop {
            let task = match due {
                Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match task {
                Ok(Task::LookUp(at, reply)) => drop(reply.send(self.look_up(at))),
                Ok(Task::Close(done)) => {
                    self.write(&mut batch);
                    return Some(done);
                }
                Ok(task) => {
                    due = due.or_else(|| Some(Instant::now() + BEHIND));
                    batch.push(task);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.write(&mut batch);
                    return None;
                }
            }
            if batch.len() >= BATCH || due.is_some_and(|due| due <= Instant::now()) {
                self.write(&mut batch);
                due = None;
            }
        }
    }

    fn look_up(&mut self, (game, key): At) -> Option<Entry> {
        let look = || -> Result<Option<Entry>, redb::Error> {
            let found = self.database.begin_read()?.open_table(MOVES)?.get((game, key))?;
            Ok(found.and_then(|bytes| Entry::from_bytes(bytes.value())))
        };
        look().inspect_err(|error| self.complain(error)).ok().flatten()
    }

    fn write(&mut self, batch: &mut Vec<Task>) {
        if let Err(error) = self.try_write(batch) {
            self.complain(&error);
        }
        batch.clear();
    }

    fn try_write(&self, batch: &[Task]) -> Result<(), redb::Error> {
        if batch.is_empty() {
            return Ok(());
        }
        let write = self.database.begin_write()?;
        {
            let (mut moves, mut lags) = (write.open_table(MOVES)?, write.open_table(LAGS)?);
            for task in batch {
                match task {
                    Task::Move((game, key), bytes) => drop(moves.insert((*game, *key), bytes.as_slice())?),
                    Task::Lag(server, summary) => drop(lags.insert(server.as_str(), summary.as_slice())?),
                    Task::LookUp(..) | Task::Close(_) => {}
                }
            }
        }
        write.commit()?;
        self.trim()
    }

    /// Removes the oldest tenth where there are too many.
    fn trim(&self) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
        {
            let mut moves = write.open_table(MOVES)?;
            if moves.len()? <= self.most {
                drop(moves);
                return Ok(write.abort()?);
            }
            remove_oldest(&mut moves)?;
        }
        Ok(write.commit()?)
    }

    /// Once: a full disk stays full.
    fn complain(&mut self, error: &redb::Error) {
        if !self.complained {
            tracing::warn!("the cache cannot be kept on the disk: {error}; playing on from memory");
            self.complained = true;
        }
    }
}

/// Removes a tenth.
fn remove_oldest(moves: &mut redb::Table<'_, (&'static str, u64), &'static [u8]>) -> Result<(), redb::Error> {
    let hour = |bytes: &[u8]| Entry::from_bytes(bytes).map_or(0, |entry| entry.hour);
    let mut hours = Vec::new();
    for kept in moves.iter()? {
        hours.push(hour(kept?.1.value()));
    }
    let mut to_go = hours.len() / TRIM as usize;
    if to_go == 0 {
        return Ok(());
    }
    let (_, &mut oldest, _) = hours.select_nth_unstable(to_go);
    moves.retain(|_, bytes| {
        let goes = to_go > 0 && hour(bytes) <= oldest;
        to_go -= usize::from(goes);
        !goes
    })?;
    Ok(())
}

//! File of the cache: an embedded database on a thread of its own, which writes in the background.
//!
//! A fault costs entries, never a game: a damaged file is renamed, one that is in use is not used, and a full disk is
//! reported once.

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

use zeitnot_engine::{Score, priority};
use zeitnot_rules::Packed;

use super::{CachedMove, Entry, Losses};

/// Move, score, depth, effort, engine, and losses and hour of an entry. The losses are in the highest byte, which is
/// zero in files from before they were counted.
type Row = (u16, i16, u16, u64, u64, u32);

/// Entries by name of the game and key of the position.
const MOVES: TableDefinition<(&str, u64), Row> = TableDefinition::new("positions");
/// Version of the tables; a file without it is of the first one.
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const VERSION_KEY: &str = "version";
const VERSION: u64 = 1;
/// Begin of the database's error about a file in its own newer format.
const NEWER_FORMAT: &str = "Expected file format version <=";
/// Lags by name of the server.
const LAGS: TableDefinition<&str, &[u8]> = TableDefinition::new("lags");

/// Bits of the hour: enough for 1900 years.
const HOUR_BITS: u32 = 24;
const MAX_HOUR: u32 = (1 << HOUR_BITS) - 1;

/// Tasks that may wait; more are dropped.
const QUEUE: usize = 4096;
/// Time after which an entry is written.
const WRITE_DELAY: Duration = Duration::from_millis(500);
/// Entries that are written at once.
const BATCH: usize = 1024;
/// Time to write the rest at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Share of entries that is removed when there are too many, as a divisor.
const TRIM: usize = 10;

/// Name of the game and key of the position.
pub(super) type PositionKey = (&'static str, u64);

/// Handle of the database. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Store {
    tasks: SyncSender<Task>,
}

#[derive(Debug)]
enum Task {
    Move(PositionKey, Entry),
    Lag(String, Vec<u8>),
    LookUp(PositionKey, oneshot::Sender<Option<Entry>>),
    Close(SyncSender<()>),
}

/// A database, and the lags in it: summaries by name of the server.
type Opened = (Database, Vec<(String, Vec<u8>)>);

/// Opens the file. Returns `None`, and reports why, if it cannot be used.
pub(super) fn open(path: &Path) -> Option<Opened> {
    let file = path.display();
    let error = match try_open(path) {
        Ok(opened) => return Some(opened),
        Err(redb::Error::DatabaseAlreadyOpen) => {
            "another program uses it; set another `file` in [cache]".into()
        }
        Err(error) if is_newer(&error) => {
            "it is of a newer zeitnot; update this one, or set another `file` in [cache]".into()
        }
        Err(error) if is_damage(&error) => {
            let renamed = path_of_damaged(path);
            match fs::rename(path, &renamed).map_err(redb::Error::Io).and_then(|()| try_open(path)) {
                Ok(opened) => {
                    tracing::warn!(
                        "cache {file}: {error}; renamed to {}, using a new one",
                        renamed.display()
                    );
                    return Some(opened);
                }
                Err(second) => format!("{error}, and it cannot be replaced: {second}"),
            }
        }
        Err(error) => error.to_string(),
    };
    tracing::warn!("cache {file}: {error}; playing without it");
    None
}

/// Opens the file; a panic of the database counts as damage.
fn try_open(path: &Path) -> Result<Opened, redb::Error> {
    let open = || -> Result<Opened, redb::Error> {
        let database = Database::create(path).map_err(|error| match error {
            DatabaseError::Storage(redb::StorageError::Io(error)) => redb::Error::Io(error),
            other => other.into(),
        })?;
        check_version(&database)?;
        let write = database.begin_write()?;
        {
            write.open_table(META)?.insert(VERSION_KEY, VERSION)?;
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
        Ok((database, lags))
    };
    catch_unwind(AssertUnwindSafe(open))
        .unwrap_or_else(|_| Err(redb::Error::Corrupted("the file is damaged".into())))
}

/// Fails if a newer program has written the file, before anything in it is changed.
fn check_version(database: &Database) -> Result<(), redb::Error> {
    let meta = match database.begin_read()?.open_table(META) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(()),
        meta => meta?,
    };
    match meta.get(VERSION_KEY)?.map(|version| version.value()) {
        Some(version) if version > VERSION => {
            Err(redb::Error::Corrupted(format!("{NEWER_FORMAT} {VERSION}")))
        }
        _ => Ok(()),
    }
}

/// Returns whether a newer program, or one with a newer database, has written the file.
fn is_newer(error: &redb::Error) -> bool {
    matches!(error, redb::Error::Corrupted(why) if why.starts_with(NEWER_FORMAT))
}

/// Returns whether the content of the file is the cause, rather than the disk or the caller.
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

fn path_of_damaged(path: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".broken-{now}"));
    name.into()
}

impl Store {
    /// Starts the thread. First it passes the entries to `load` until that returns false, and tells `loaded` whether
    /// those were all.
    pub(super) fn start(
        database: Database,
        max_entries: u64,
        load: impl FnMut(&str, u64, Entry) -> bool + Send + 'static,
        loaded: impl FnOnce(bool) + Send + 'static,
    ) -> io::Result<Store> {
        let (tasks, inbox) = sync_channel(QUEUE);
        thread::Builder::new().name("cache".into()).spawn(move || {
            priority::usual();
            let mut writer = Writer { database, max_entries, warned: false };
            let work = AssertUnwindSafe(|| {
                match writer.load(load) {
                    Ok(all) => loaded(all),
                    Err(error) => writer.warn_once(&error),
                }
                writer.run(&inbox)
            });
            // A damaged file can make the database panic.
            let done = catch_unwind(work).unwrap_or_else(|_| {
                tracing::warn!("the file of the cache is damaged; using the cache in memory only");
                None
            });
            // Closes the file before that is reported.
            drop((writer, inbox));
            if let Some(done) = done {
                let _ = done.send(());
            }
        })?;
        Ok(Store { tasks })
    }

    /// Queues an entry; returns whether there was room.
    pub(super) fn insert(&self, key: PositionKey, entry: Entry) -> bool {
        self.tasks.try_send(Task::Move(key, entry)).is_ok()
    }

    pub(super) fn insert_lag(&self, server: &str, summary: Vec<u8>) {
        let _ = self.tasks.try_send(Task::Lag(server.to_owned(), summary));
    }

    pub(super) fn look_up(&self, key: PositionKey) -> Option<oneshot::Receiver<Option<Entry>>> {
        let (reply, answer) = oneshot::channel();
        self.tasks.try_send(Task::LookUp(key, reply)).ok().map(|()| answer)
    }

    /// Writes the rest; returns when the file is closed, or after two seconds.
    pub(super) fn close(&self) {
        let (done, wait) = sync_channel(1);
        let end = Instant::now() + CLOSE_TIMEOUT;
        let mut close = Task::Close(done);
        // A hanging disk may have filled the queue.
        while let Err(TrySendError::Full(task)) = self.tasks.try_send(close) {
            if Instant::now() >= end {
                return;
            }
            close = task;
            thread::sleep(Duration::from_millis(10));
        }
        let _ = wait.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}

struct Writer {
    database: Database,
    max_entries: u64,
    warned: bool,
}

impl Writer {
    fn load(&self, mut load: impl FnMut(&str, u64, Entry) -> bool) -> Result<bool, redb::Error> {
        let read = self.database.begin_read()?;
        for stored in read.open_table(MOVES)?.iter()? {
            let (at, row) = stored?;
            let (game, key) = at.value();
            if !load(game, key, Entry::from_row(row.value())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Works until it is told to close, or all handles are dropped. Returns who is waiting for the end.
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
                    due = due.or_else(|| Some(Instant::now() + WRITE_DELAY));
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

    fn look_up(&mut self, (game, key): PositionKey) -> Option<Entry> {
        let look = || -> Result<Option<Entry>, redb::Error> {
            let found = self.database.begin_read()?.open_table(MOVES)?.get((game, key))?;
            Ok(found.map(|row| Entry::from_row(row.value())))
        };
        look().inspect_err(|error| self.warn_once(error)).ok().flatten()
    }

    fn write(&mut self, batch: &mut Vec<Task>) {
        if let Err(error) = self.try_write(batch) {
            self.warn_once(&error);
        }
        batch.clear();
    }

    fn try_write(&self, batch: &[Task]) -> Result<(), redb::Error> {
        if batch.is_empty() {
            return Ok(());
        }
        let write = self.database.begin_write()?;
        {
            let mut moves = write.open_table(MOVES)?;
            let mut lags = write.open_table(LAGS)?;
            for task in batch {
                match task {
                    Task::Move(key, entry) => drop(moves.insert(*key, entry.to_row())?),
                    Task::Lag(server, summary) => drop(lags.insert(server.as_str(), summary.as_slice())?),
                    Task::LookUp(..) | Task::Close(_) => {}
                }
            }
        }
        write.commit()?;
        self.trim()
    }

    /// Removes the oldest tenth if there are too many entries.
    fn trim(&self) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
        {
            let mut moves = write.open_table(MOVES)?;
            if moves.len()? <= self.max_entries {
                drop(moves);
                return Ok(write.abort()?);
            }
            remove_oldest(&mut moves)?;
        }
        Ok(write.commit()?)
    }

    /// Warns once: a full disk stays full.
    fn warn_once(&mut self, error: &redb::Error) {
        if !self.warned {
            tracing::warn!("cannot write the cache to disk: {error}; using the cache in memory only");
            self.warned = true;
        }
    }
}

impl Entry {
    fn to_row(self) -> Row {
        let CachedMove { mv, score, depth, effort } = self.cached;
        let hour = self.hour.min(MAX_HOUR) | u32::from(self.losses.to_byte()) << HOUR_BITS;
        (mv.0, score.to_bits(), depth, effort, self.engine, hour)
    }

    fn from_row((mv, score, depth, effort, engine, hour): Row) -> Entry {
        let cached = CachedMove { mv: Packed(mv), score: Score::from_bits(score), depth, effort };
        let losses = Losses::from_byte((hour >> HOUR_BITS) as u8);
        Entry { cached, engine, losses, hour: hour & MAX_HOUR }
    }
}

fn remove_oldest(moves: &mut redb::Table<'_, (&'static str, u64), Row>) -> Result<(), redb::Error> {
    let mut hours = Vec::new();
    for stored in moves.iter()? {
        hours.push(Entry::from_row(stored?.1.value()).hour);
    }
    let mut to_go = hours.len() / TRIM;
    if to_go == 0 {
        return Ok(());
    }
    let (_, &mut oldest, _) = hours.select_nth_unstable(to_go);
    moves.retain(|_, row| {
        let goes = to_go > 0 && Entry::from_row(row).hour <= oldest;
        to_go -= usize::from(goes);
        !goes
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_kept_and_old_files_have_none() {
        let old: Row = (7, 30, 9, 1_000, 3, 495_000);
        let entry = Entry::from_row(old);
        assert_eq!((entry.hour, entry.losses), (495_000, Losses::default()));
        assert_eq!(entry.to_row(), old);
        let lost = Entry { losses: Losses::from_byte(2), ..entry };
        assert_eq!(Entry::from_row(lost.to_row()), lost);
        // A damaged file may hold anything.
        assert_eq!(Entry::from_row((7, 30, 9, 1_000, 3, u32::MAX)).losses.time_factor(), 3.0);
    }

    fn set_version(path: &Path, version: u64) {
        let write = Database::create(path).unwrap().begin_write().unwrap();
        write.open_table(META).unwrap().insert(VERSION_KEY, version).unwrap();
        write.commit().unwrap();
    }

    #[test]
    fn a_newer_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.redb");
        drop(open(&path).unwrap());
        set_version(&path, VERSION + 1);
        assert!(open(&path).is_none());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "it is not renamed");
        let read = Database::create(&path).unwrap().begin_read().unwrap();
        let version = read.open_table(META).unwrap().get(VERSION_KEY).unwrap().unwrap().value();
        assert_eq!(version, VERSION + 1);
    }

    #[test]
    fn a_file_of_a_newer_database_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.redb");
        drop(open(&path).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        // The versions of both headers.
        (bytes[64], bytes[192]) = (9, 9);
        fs::write(&path, &bytes).unwrap();
        assert!(open(&path).is_none());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "it is not renamed");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_file_without_a_version_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.redb");
        let row: Row = (7, 30, 9, 1_000, 3, 495_000);
        {
            let database = Database::create(&path).unwrap();
            let write = database.begin_write().unwrap();
            write.open_table(MOVES).unwrap().insert(("chess", 5), row).unwrap();
            write.commit().unwrap();
        }
        let (database, _) = open(&path).unwrap();
        let read = database.begin_read().unwrap();
        assert_eq!(read.open_table(MOVES).unwrap().get(("chess", 5)).unwrap().unwrap().value(), row);
        assert_eq!(read.open_table(META).unwrap().get(VERSION_KEY).unwrap().unwrap().value(), VERSION);
    }
}

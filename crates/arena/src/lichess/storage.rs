//! The state file: a row for each account, challenge and game, written by a thread of its own, in transactions that
//! survive a kill at any moment.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use redb::{Database, DatabaseError, ReadableTable, TableDefinition, TableHandle};
use tokio::sync::mpsc;

use zeitnot_net::{Outage, OutageNews};
use zeitnot_wire::lichess::GameId;

use crate::{error::ArenaError, store::GameFile};

/// Rows by kind and id, as in `game/abcdefgh`.
const ROWS: TableDefinition<&str, &str> = TableDefinition::new("zeitnot_lichess_arena");
/// The row with the version of the format.
const FORMAT: &str = "format";
const THIS_FORMAT: &str = "2";

/// Records of games that are over and may not be in their file yet.
const RECORD: &str = "record/";

/// A row's new value; `None` removes it.
pub(super) type Change = (String, Option<String>);

/// Hands changes to the file's thread, which takes them once it has written those before.
pub(super) type Changes = mpsc::Sender<Vec<Change>>;

/// The rows of a file.
pub(super) type Rows = Vec<(String, String)>;

pub(super) struct StorageActor {
    changes: mpsc::Receiver<Vec<Change>>,
    /// Without one, only the records of games are written.
    database: Option<(Database, PathBuf)>,
    games: GameFile,
    /// Changes that are not in the database yet.
    unwritten: BTreeMap<String, Option<String>>,
    /// Records that are not in the file of games yet.
    records: BTreeMap<String, String>,
    /// Of the database.
    outage: Outage,
}

impl std::fmt::Debug for StorageActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageActor").field("games", &self.games).finish_non_exhaustive()
    }
}

/// The change that hands over the record of a game.
pub(super) fn record(id: GameId, text: String) -> Change {
    (format!("{RECORD}{id}"), Some(text))
}

/// Opens or creates the file, if there is to be one. It holds tokens, so only its owner can read it.
/// A file that cannot be used is left as it is.
pub(super) fn open(
    path: Option<&Path>,
    games: GameFile,
) -> Result<(Changes, StorageActor, Rows), ArenaError> {
    let (mut database, mut rows) = (None, Rows::new());
    if let Some(path) = path {
        // A damaged file can make the database panic.
        let opened = catch_unwind(AssertUnwindSafe(|| read(path))).unwrap_or(Err(Unreadable::Foreign));
        let error = |why: Unreadable| ArenaError::State { path: path.to_owned(), why: why.to_string() };
        let (opened, found) = opened.map_err(error)?;
        (database, rows) = (Some((opened, path.to_owned())), found);
    }
    let (records, rows): (Rows, Rows) = rows.into_iter().partition(|(key, _)| key.starts_with(RECORD));
    let (records, unwritten) = (records.into_iter().collect(), BTreeMap::new());
    let (tx, changes) = mpsc::channel(1);
    Ok((tx, StorageActor { changes, database, games, unwritten, records, outage: Outage::default() }, rows))
}

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("it is damaged, or not an arena's state")]
    Foreign,
    #[error("another server uses it")]
    Used,
    #[error("{0}")]
    Other(String),
}

impl<E: Into<redb::Error>> From<E> for Unreadable {
    fn from(error: E) -> Unreadable {
        match error.into() {
            redb::Error::DatabaseAlreadyOpen => Unreadable::Used,
            redb::Error::Io(error) if !is_damage(&error) => Unreadable::Other(error.to_string()),
            _ => Unreadable::Foreign,
        }
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput
    )
}

fn read(path: &Path) -> Result<(Database, Rows), Unreadable> {
    let other = |error: io::Error| Unreadable::Other(error.to_string());
    let file = private(path).map_err(other)?;
    let is_new = file.metadata().map_err(other)?.len() == 0;
    let database = Database::builder().create_file(file).map_err(|error| match error {
        DatabaseError::Storage(redb::StorageError::Io(error)) => redb::Error::Io(error),
        error => error.into(),
    })?;
    let write = database.begin_write()?;
    let is_ours = write.list_tables()?.any(|table| table.name() == redb::TableHandle::name(&ROWS));
    if !is_new && !is_ours {
        write.abort()?;
        return Err(Unreadable::Foreign);
    }
    let mut rows = Vec::new();
    {
        let mut table = write.open_table(ROWS)?;
        if is_new {
            table.insert(FORMAT, THIS_FORMAT)?;
        }
        for row in table.iter()? {
            let (key, value) = row?;
            rows.push((key.value().to_owned(), value.value().to_owned()));
        }
    }
    write.commit()?;
    let is_format = |(key, value): &(String, String)| key == FORMAT && value == THIS_FORMAT;
    let format = rows.iter().position(is_format).ok_or(Unreadable::Foreign)?;
    rows.swap_remove(format);
    Ok((database, rows))
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Other systems protect the user's folder.
#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

impl StorageActor {
    /// Writes until the server is gone. Blocks: for a thread of its own.
    ///
    /// A record is committed with the end of its game, appended to the file of games, and then removed from the
    /// database. So a kill at any moment neither loses a game nor writes it twice.
    pub(super) fn run(mut self) {
        let StorageActor { records, games, unwritten, .. } = &mut self;
        let written = records.extract_if(.., |_, text| games.is_written(text));
        unwritten.extend(written.map(|(key, _)| (key, None)));
        self.write();
        while let Some(changes) = self.changes.blocking_recv() {
            self.unwritten.extend(changes);
            self.write();
        }
        if !self.records.is_empty() {
            self.write();
        }
        // Those in the database are written at the next start.
        self.games.report_lost(if self.database.is_some() { 0 } else { self.records.len() });
        self.games.finish();
    }

    /// Writes the changes and the records. Failed writes are tried again with the next changes.
    fn write(&mut self) {
        let records = self.unwritten.iter().filter(|(key, _)| key.starts_with(RECORD));
        self.records.extend(records.filter_map(|(key, text)| Some((key.clone(), text.clone()?))));
        self.commit();
        for (key, text) in std::mem::take(&mut self.records) {
            match self.games.append(&text) {
                Ok(()) => drop(self.unwritten.insert(key, None)),
                Err(_) => drop(self.records.insert(key, text)),
            }
        }
        self.commit();
    }

    /// Writes the changes to the database. The first of several failures is reported.
    fn commit(&mut self) {
        if let Some((database, path)) = self.database.as_ref().filter(|_| !self.unwritten.is_empty()) {
            let committed = commit(database, &self.unwritten);
            let file = path.display();
            match (self.outage.note(&committed), &committed) {
                (Some(OutageNews::Begins), Err(error)) => tracing::error!(
                    "cannot write the state {file}: {error}; the latest changes would be lost by a restart: make room on the disk"
                ),
                (Some(OutageNews::Ends), _) => tracing::info!("the state {file} is written again"),
                _ => {}
            }
            if committed.is_err() {
                return;
            }
        }
        self.unwritten.clear();
    }
}

fn commit(database: &Database, changes: &BTreeMap<String, Option<String>>) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    {
        let mut table = write.open_table(ROWS)?;
        for (key, value) in changes {
            match value {
                Some(value) => table.insert(key.as_str(), value.as_str())?,
                None => table.remove(key.as_str())?,
            };
        }
    }
    Ok(write.commit()?)
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    /// Opens the file, with a new file of games in its folder.
    fn open(path: &Path) -> Result<(Changes, StorageActor, Rows), ArenaError> {
        let games = path.ancestors().find(|path| path.is_dir()).unwrap().join("games");
        super::open(
            Some(path),
            GameFile::create(&games, "lichess", "pgn", OffsetDateTime::UNIX_EPOCH).unwrap(),
        )
    }

    fn refused(path: &Path) -> String {
        open(path).map(|_| ()).unwrap_err().to_string()
    }

    fn change(key: &str, value: Option<&str>) -> Change {
        (key.to_owned(), value.map(str::to_owned))
    }

    #[test]
    fn rows_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (changes, actor, rows) = open(&path).unwrap();
        assert!(rows.is_empty());
        assert!(refused(&path).contains("another server uses it"));
        let writing = std::thread::spawn(move || actor.run());
        changes.blocking_send(vec![change("game/a", Some("1")), change("game/b", Some("2"))]).unwrap();
        changes.blocking_send(vec![change("game/a", None), change("game/b", Some("3"))]).unwrap();
        drop(changes);
        writing.join().unwrap();
        assert_eq!(open(&path).unwrap().2, [("game/b".to_owned(), "3".to_owned())]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_kill_neither_loses_a_record_nor_writes_it_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let games = || -> String {
            let files = std::fs::read_dir(folder.path().join("games")).unwrap();
            files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
        };
        let ended =
            BTreeMap::from([change("game/a", Some("over")), change("record/a", Some("[GameId a]\n"))]);
        // Killed after the end of the game was saved; and again after its record was appended.
        for _ in 0..2 {
            let (changes, actor, _) = open(&path).unwrap();
            commit(&actor.database.as_ref().unwrap().0, &ended).unwrap();
            drop((changes, actor));
            let (changes, actor, rows) = open(&path).unwrap();
            assert_eq!(rows, [("game/a".to_owned(), "over".to_owned())]);
            drop(changes);
            actor.run();
            assert_eq!(games(), "[GameId a]\n");
        }
        assert!(open(&path).unwrap().1.records.is_empty());
    }

    #[test]
    fn foreign_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let text = "my diary, which is longer than a page\n".repeat(1000);
        std::fs::write(&path, &text).unwrap();
        assert!(refused(&path).contains("not an arena's state"), "{}", refused(&path));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

        let other = folder.path().join("other");
        let database = Database::create(&other).unwrap();
        let write = database.begin_write().unwrap();
        write.open_table(TableDefinition::<u64, u64>::new("moves")).unwrap();
        write.commit().unwrap();
        drop(database);
        assert!(refused(&other).contains("not an arena's state"));

        let (_, actor, _) = open(&folder.path().join("cut")).unwrap();
        drop(actor);
        let cut = std::fs::read(folder.path().join("cut")).unwrap();
        std::fs::write(&path, &cut[..cut.len() / 3]).unwrap();
        assert!(refused(&path).contains("damaged"));
        assert!(refused(&folder.path().join("none/state")).contains("No such file"));
    }
}

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

use crate::error::ArenaError;

/// Rows by kind and id, as in `game/abcdefgh`.
const ROWS: TableDefinition<&str, &str> = TableDefinition::new("zeitnot_lichess_arena");
/// The row with the version of the format.
const FORMAT: &str = "format";
const THIS_FORMAT: &str = "2";

/// A row's new value; `None` removes it.
pub(super) type Change = (String, Option<String>);

/// Hands changes to the file's thread, which takes them once it has written those before.
pub(super) type Changes = mpsc::Sender<Vec<Change>>;

/// The rows of a file.
pub(super) type Rows = Vec<(String, String)>;

/// The owner of the file.
pub(super) struct StorageActor {
    changes: mpsc::Receiver<Vec<Change>>,
    database: Database,
    path: PathBuf,
}

impl std::fmt::Debug for StorageActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StorageActor of {}", self.path.display())
    }
}

/// Opens or creates the file. It holds tokens, so only its owner can read it.
///
/// # Errors
/// [`ArenaError::State`]; a file that cannot be read is left as it is.
pub(super) fn open(path: &Path) -> Result<(Changes, StorageActor, Rows), ArenaError> {
    let error = |why: String| ArenaError::State { path: path.to_owned(), why };
    // A damaged file can make the database panic.
    let opened = catch_unwind(AssertUnwindSafe(|| read(path)));
    let opened = opened.unwrap_or_else(|_| Err(Unreadable::Foreign));
    let (database, rows) = opened.map_err(|why| error(why.to_string()))?;
    let (tx, changes) = mpsc::channel(1);
    Ok((tx, StorageActor { changes, database, path: path.to_owned() }, rows))
}

/// A reason why a file cannot be used.
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
    pub(super) fn run(mut self) {
        // Failed writes are tried again with the next changes.
        let mut unwritten: BTreeMap<String, Option<String>> = BTreeMap::new();
        while let Some(changes) = self.changes.blocking_recv() {
            unwritten.extend(changes);
            match self.write(&unwritten) {
                Ok(()) => unwritten.clear(),
                Err(error) => tracing::error!(
                    "cannot write the state {}: {error}; the latest changes would be lost by a restart",
                    self.path.display()
                ),
            }
        }
    }

    fn write(&self, changes: &BTreeMap<String, Option<String>>) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> String {
        open(path).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (changes, actor, rows) = open(&path).unwrap();
        assert!(rows.is_empty());
        assert!(refused(&path).contains("another server uses it"));
        let change = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
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

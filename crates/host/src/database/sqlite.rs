//! Databases in SQLite files: the lock that keeps other arenas away, marks and checks.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use sqlx::{AnyConnection, AssertSqlSafe, Executor, query, query_scalar};

use zeitnot_net::secret_file;

use super::{error::DatabaseError, location::Mark};

/// `Zeit`: mark of our files among those of SQLite.
const APPLICATION: i64 = i32::from_be_bytes(*b"Zeit") as i64;

/// Keeps other arenas away from a file.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Creates the folder and the file if they are missing, and keeps others away.
pub(super) fn prepare(path: &Path) -> Result<Lock, DatabaseError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let lock = lock(path)?;
    // SQLite's locks go with any handle of its file that this process closes: an existing one is opened by SQLite only.
    match path.exists() {
        true => check_bytes(path)?,
        false => drop(private(path)?),
    }
    Ok(lock)
}

/// Refuses a file without a byte, which SQLite takes for a new database: a copy that failed, say, or a lost file system.
pub(super) fn check_bytes(path: &Path) -> Result<(), DatabaseError> {
    match fs::metadata(path)?.len() {
        0 => Err(DatabaseError::NoBytes),
        _ => Ok(()),
    }
}

/// Checks the file of an arena that writes to it, and marks a new one.
pub(super) async fn begin_writing(connection: &mut AnyConnection) -> Result<(), DatabaseError> {
    if mark(connection).await? == Mark::Missing {
        // The pragma takes no parameters.
        let mark = AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION}"));
        connection.execute(mark).await?;
    }
    connection.execute("PRAGMA journal_mode = WAL").await?;
    connection.execute("PRAGMA synchronous = FULL").await?;
    let check: String = query_scalar("PRAGMA quick_check(1)").fetch_one(connection).await?;
    if check != "ok" {
        return Err(DatabaseError::Damaged(check));
    }
    Ok(())
}

/// Returns whose file it is.
pub(super) async fn mark(connection: &mut AnyConnection) -> Result<Mark, DatabaseError> {
    let mark: i64 = query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await?;
    let table = query("SELECT 1 FROM sqlite_master").fetch_optional(connection).await?;
    match (mark, table) {
        (APPLICATION, _) => Ok(Mark::Ours),
        (0, None) => Ok(Mark::Missing),
        _ => Err(DatabaseError::Foreign),
    }
}

/// A file of its own, as closing the database's would take SQLite's locks with it.
fn lock(path: &Path) -> Result<Lock, DatabaseError> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let file = private(&PathBuf::from(name))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(DatabaseError::Used),
        // Some file systems have no locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            Ok(Lock { _file: file })
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Opens or creates a file that only its owner can read: tokens of accounts may be in it.
fn private(path: &Path) -> io::Result<File> {
    let file = secret_file::private().read(true).write(true).create(true).truncate(false).open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

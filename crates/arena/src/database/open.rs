//! Opening of the file: locks, checks and migrations. A file that cannot be used is left as it is.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, SqlSafeStr, SqliteConnection,
    migrate::{Migration, MigrationType, Migrator},
    query, query_scalar,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};

use super::error::DatabaseError;

/// Schema, step by step. A step that has been released is never changed: another one follows.
const MIGRATIONS: &[(&str, &str)] = &[
    ("arena", include_str!("migrations/0001_arena.sql")),
    ("lichess", include_str!("migrations/0002_lichess.sql")),
    ("positions", include_str!("migrations/0003_positions.sql")),
    ("standings", include_str!("migrations/0004_standings.sql")),
    ("refusals", include_str!("migrations/0005_refusals.sql")),
    ("orders", include_str!("migrations/0006_orders.sql")),
];

/// `Zeit`: mark of our files among those of SQLite.
const APPLICATION: i64 = i32::from_be_bytes(*b"Zeit") as i64;
/// Time for which others may hold the file: readers never do, except when one brings a killed arena's log in order.
const BUSY: Duration = Duration::from_secs(5);

/// Keeps other arenas away from a database.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

fn migrator() -> Migrator {
    let steps = MIGRATIONS.iter().zip(1..).map(|(&(name, sql), number)| {
        Migration::new(number, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

fn options(path: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY);
    options.synchronous(SqliteSynchronous::Full).disable_statement_logging()
}

/// Opens or creates the file for the arena that writes to it.
pub(super) async fn for_writing(path: &Path) -> Result<(SqliteConnection, Lock), DatabaseError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let lock = lock(path)?;
    // SQLite's locks go with any handle of its file that this process closes: an existing one is opened by SQLite only.
    if !path.exists() {
        private(path)?;
    }
    let mut connection = options(path).connect().await?;
    if check_ours(&mut connection).await? == Mark::Missing {
        // The pragma takes no parameters.
        let mark = AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION}"));
        connection.execute(mark).await?;
    }
    connection.execute("PRAGMA journal_mode = WAL").await?;
    let check: String = query_scalar("PRAGMA quick_check(1)").fetch_one(&mut connection).await?;
    if check != "ok" {
        return Err(DatabaseError::Damaged(check));
    }
    migrator().run(&mut connection).await?;
    Ok((connection, lock))
}

/// Opens the file beside the arena that may be writing to it.
pub(super) async fn for_reading(path: &Path) -> Result<SqliteConnection, DatabaseError> {
    if !path.exists() {
        return Err(DatabaseError::Missing);
    }
    let mut connection = options(path).read_only(true).connect().await?;
    if check_ours(&mut connection).await? == Mark::Missing {
        return Err(DatabaseError::Foreign);
    }
    let version = query_scalar("SELECT MAX(version) FROM _sqlx_migrations WHERE success");
    let version: Option<i64> = version.fetch_one(&mut connection).await?;
    match usize::try_from(version.unwrap_or_default()).unwrap_or(usize::MAX) {
        version if version > MIGRATIONS.len() => Err(DatabaseError::Newer),
        version if version < MIGRATIONS.len() => Err(DatabaseError::Older),
        _ => Ok(connection),
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

/// Whose file it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mark {
    Ours,
    /// It is empty.
    Missing,
}

async fn check_ours(connection: &mut SqliteConnection) -> Result<Mark, DatabaseError> {
    let mark: i64 = query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await?;
    let table = query("SELECT 1 FROM sqlite_master").fetch_optional(connection).await?;
    match (mark, table) {
        (APPLICATION, _) => Ok(Mark::Ours),
        (0, None) => Ok(Mark::Missing),
        _ => Err(DatabaseError::Foreign),
    }
}

/// Opens or creates a file that only its owner can read: tokens of accounts may be in it.
#[cfg(unix)]
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Other systems protect the user's folder.
#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

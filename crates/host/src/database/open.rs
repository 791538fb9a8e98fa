//! Opening of a database: connections, checks and migrations. One that cannot be used is left as it is.

use std::time::Duration;

use sqlx::{
    AnyConnection, ConnectOptions, SqlSafeStr,
    any::install_default_drivers,
    migrate::{Migration, MigrationType, Migrator},
    query_scalar,
};
use tokio::time::timeout;

use super::{
    error::DatabaseError,
    location::{DatabaseLocation, Mark, Mode},
    postgres,
    sqlite::{self, Lock},
};

/// Schema, step by step, in SQL that SQLite and PostgreSQL both know. A step that has been released is never changed:
/// another one follows.
const MIGRATIONS: &[(&str, &str)] = &[
    ("arena", include_str!("migrations/0001_arena.sql")),
    ("lichess", include_str!("migrations/0002_lichess.sql")),
    ("positions", include_str!("migrations/0003_positions.sql")),
    ("standings", include_str!("migrations/0004_standings.sql")),
    ("refusals", include_str!("migrations/0005_refusals.sql")),
    ("orders", include_str!("migrations/0006_orders.sql")),
    ("owners", include_str!("migrations/0007_owners.sql")),
    ("export", include_str!("migrations/0008_export.sql")),
    ("archive", include_str!("migrations/0009_archive.sql")),
    ("lichess export", include_str!("migrations/0010_lichess_export.sql")),
    ("players", include_str!("migrations/0011_players.sql")),
];

pub(super) fn migrator() -> Migrator {
    let steps = MIGRATIONS.iter().zip(1..).map(|(&(name, sql), number)| {
        Migration::new(number, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

/// Waits for an answer of a server; `None`: as long as it takes.
pub(super) async fn within<T>(
    limit: Option<Duration>,
    answer: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, DatabaseError> {
    match limit {
        Some(limit) => timeout(limit, answer).await.unwrap_or(Err(DatabaseError::Silent(limit))),
        None => answer.await,
    }
}

pub(super) async fn connect(location: &DatabaseLocation, mode: Mode) -> Result<AnyConnection, DatabaseError> {
    install_default_drivers();
    let options = location.options(mode)?.disable_statement_logging();
    Ok(options.connect().await?)
}

/// Keeps other arenas away from a file. Of a server each arena has its part (`ownership.rs`).
pub(super) fn lock(location: &DatabaseLocation) -> Result<Option<Lock>, DatabaseError> {
    match location {
        DatabaseLocation::File(path) => sqlite::prepare(path).map(Some),
        DatabaseLocation::Server(_) => Ok(None),
    }
}

/// Opens the database for an arena that writes to it, and brings its schema up to date. Of two arenas that do so at
/// once, sqlx lets one wait for the other.
pub(super) async fn for_writing(location: &DatabaseLocation) -> Result<AnyConnection, DatabaseError> {
    let open = async {
        let mut connection = connect(location, Mode::Write).await?;
        match location {
            DatabaseLocation::File(_) => sqlite::begin_writing(&mut connection).await?,
            DatabaseLocation::Server(_) => postgres::begin_writing(&mut connection).await?,
        }
        check_ours(location, &mut connection).await?;
        migrator().run(&mut connection).await?;
        Ok(connection)
    };
    within(location.max_answer(), open).await
}

/// Opens the database beside the arenas that may be writing to it.
pub(super) async fn for_reading(location: &DatabaseLocation) -> Result<AnyConnection, DatabaseError> {
    if let DatabaseLocation::File(path) = location {
        if !path.exists() {
            return Err(DatabaseError::Missing);
        }
        sqlite::check_bytes(path)?;
    }
    let open = async {
        let mut connection = connect(location, Mode::Read).await?;
        if let DatabaseLocation::Server(_) = location {
            postgres::begin_reading(&mut connection).await?;
        }
        if check_ours(location, &mut connection).await? == Mark::Missing {
            return Err(DatabaseError::Empty);
        }
        let version = query_scalar("SELECT MAX(version) FROM _sqlx_migrations WHERE success");
        let version: Option<i64> = version.fetch_one(&mut connection).await?;
        match usize::try_from(version.unwrap_or_default()).unwrap_or(usize::MAX) {
            version if version > MIGRATIONS.len() => Err(DatabaseError::Newer),
            version if version < MIGRATIONS.len() => Err(DatabaseError::Older),
            _ => Ok(connection),
        }
    };
    within(location.max_answer(), open).await
}

async fn check_ours(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
) -> Result<Mark, DatabaseError> {
    match location {
        DatabaseLocation::File(_) => sqlite::mark(connection).await,
        DatabaseLocation::Server(_) => {
            let first = migrator().iter().next().map(|first| first.checksum.to_vec()).unwrap_or_default();
            postgres::mark(connection, &first).await
        }
    }
}

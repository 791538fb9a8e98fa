//! Reasons why a database cannot be used, each with what to do.

use std::io;

use sqlx::migrate::MigrateError;

/// Codes of SQLite: a page that is not as it should be, and a file of another program.
const CORRUPT: i64 = 11;
const NOT_A_DATABASE: i64 = 26;

/// Reason why a database cannot be used.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("there is no such file; an arena makes it when it starts")]
    Missing,
    #[error("it is not the database of an arena; set database = \"…\" in [arena] to another file")]
    Foreign,
    #[error(
        "a newer zeitnot has written it; use that one, or set database = \"…\" in [arena] to another file"
    )]
    Newer,
    #[error("an older zeitnot has written it; start the arena with it once")]
    Older,
    #[error("another arena uses it; stop that one, or set database = \"…\" in [arena] to another file")]
    Used,
    #[error("it is damaged ({0}); put a copy in its place, or move it away")]
    Damaged(String),
    #[error("{0}")]
    Other(String),
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> DatabaseError {
        let code = error.as_database_error().and_then(|error| error.code());
        match code.and_then(|code| code.parse::<i64>().ok()).map(|code| code & 0xff) {
            Some(CORRUPT) => DatabaseError::Damaged(error.to_string()),
            Some(NOT_A_DATABASE) => DatabaseError::Foreign,
            _ => DatabaseError::Other(error.to_string()),
        }
    }
}

impl From<MigrateError> for DatabaseError {
    fn from(error: MigrateError) -> DatabaseError {
        match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => DatabaseError::Newer,
            MigrateError::VersionMismatch(version) => {
                DatabaseError::Damaged(format!("its schema {version} is another one than ours"))
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            error => DatabaseError::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for DatabaseError {
    fn from(error: io::Error) -> DatabaseError {
        DatabaseError::Other(error.to_string())
    }
}

//! Reasons why a database cannot be used, each with what to do.

use std::{io, time::Duration};

use sqlx::migrate::MigrateError;
#[cfg(feature = "postgres")]
use sqlx::postgres::PgDatabaseError;
use zeitnot_pairing::BadName;

/// Codes of SQLite: a page that is not as it should be, and a file of another program.
const CORRUPT: i64 = 11;
const NOT_A_DATABASE: i64 = 26;

/// Reason why a database cannot be used.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("there is no such file; an arena makes it when it starts")]
    Missing,
    #[error("it is empty; an arena fills it when it starts")]
    Empty,
    #[error("it has 0 bytes: what was in it is lost; put a copy in its place, or delete it to begin anew")]
    NoBytes,
    #[error("it is not the database of an arena; set database = \"…\" in [arena] to another one")]
    Foreign,
    #[error(
        "a newer zeitnot has written it; use that one, or set database = \"…\" in [arena] to another one"
    )]
    Newer,
    #[error("an older zeitnot has written it; start the arena with it once")]
    Older,
    #[error("another arena uses it; stop that one, or set database = \"…\" in [arena] to another file")]
    Used,
    #[error("another arena on this database runs {subject}; stop that one, or {advice}")]
    Taken { subject: String, advice: &'static str },
    #[error("it is damaged ({0}); put a copy in its place, or move it away")]
    Damaged(String),
    #[error(
        "it has an invalid name ({0}); go on with the zeitnot that wrote it, or set database = \"…\" in [arena] to another one"
    )]
    Name(#[from] BadName),
    #[error("the server cannot be reached ({0}); is PostgreSQL running there?")]
    Away(String),
    #[error("the server has not answered for {0:?}; see whether it is overloaded or cut off")]
    Silent(Duration),
    #[error("the server has not missed this arena's earlier connection yet")]
    StillConnected,
    #[error(
        "the server refuses the user or the password ({0}); mend the URL, or give the password by PGPASSWORD or ~/.pgpass"
    )]
    Refused(String),
    #[error("there is no safe connection to the server ({0}); mend sslmode or sslrootcert in the URL")]
    Untrusted(String),
    #[error("{0}; create it: createdb --owner=USER DATABASE")]
    NoDatabase(String),
    #[error("{0}; make the user the owner: ALTER DATABASE … OWNER TO …")]
    Forbidden(String),
    #[error("{0}")]
    Other(String),
}

impl DatabaseError {
    /// Returns whether the server is away, rather than that the user must mend something.
    pub fn is_outage(&self) -> bool {
        matches!(self, DatabaseError::Away(_) | DatabaseError::Silent(_) | DatabaseError::StillConnected)
    }

    /// Error of a connection that was lost just now.
    pub(super) fn gone() -> DatabaseError {
        DatabaseError::Away("the connection is lost".into())
    }

    /// Sorts an error of PostgreSQL by its code (appendix A of its manual).
    #[cfg(feature = "postgres")]
    fn of_server(error: &PgDatabaseError) -> DatabaseError {
        let (code, told) = (error.code(), error.message().to_owned());
        match code {
            "28000" | "28P01" => DatabaseError::Refused(told),
            "3D000" => DatabaseError::NoDatabase(told),
            "42501" => DatabaseError::Forbidden(told),
            // Starting, stopping, or without a free connection.
            "53300" | "57P01" | "57P02" | "57P03" => DatabaseError::Away(told),
            _ => DatabaseError::Other(told),
        }
    }

    fn of_file(code: Option<&str>, told: String) -> DatabaseError {
        match code.and_then(|code| code.parse::<i64>().ok()).map(|code| code & 0xff) {
            Some(CORRUPT) => DatabaseError::Damaged(told),
            Some(NOT_A_DATABASE) => DatabaseError::Foreign,
            _ => DatabaseError::Other(told),
        }
    }
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> DatabaseError {
        match &error {
            #[cfg(feature = "postgres")]
            sqlx::Error::Database(database)
                if let Some(error) = database.try_downcast_ref::<PgDatabaseError>() =>
            {
                DatabaseError::of_server(error)
            }
            sqlx::Error::Database(database) => {
                DatabaseError::of_file(database.code().as_deref(), error.to_string())
            }
            // So rustls wraps what is wrong with a certificate.
            sqlx::Error::Io(tls) if tls.kind() == io::ErrorKind::InvalidData => {
                DatabaseError::Untrusted(tls.to_string())
            }
            sqlx::Error::Tls(tls) => DatabaseError::Untrusted(tls.to_string()),
            sqlx::Error::Io(error) => DatabaseError::Away(error.to_string()),
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

//! Errors that keep an arena from starting.

use std::{io, path::PathBuf};

use zeitnot_host::{database::UnusableDatabase, store::UnusableFolder};
use zeitnot_web::error::ServerError;

use crate::keys::KeysError;

/// Reason why an arena cannot start.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    #[error("[arena] {0}")]
    Config(String),
    #[error(transparent)]
    Listen(ServerError),
    #[error(transparent)]
    Games(#[from] UnusableFolder),
    #[error("cannot read the openings {}: {source}", path.display())]
    Openings { path: PathBuf, source: io::Error },
    #[error("cannot read the users of IMCS, {}: {why}; correct it, or set users = \"…\" in [arena.imcs] to another file", path.display())]
    Users { path: PathBuf, why: String },
    #[error("cannot use the keys {}: {source}; `zeitnot arena keys FILE NAME…` creates such a file", path.display())]
    Keys { path: PathBuf, source: KeysError },
    #[error(transparent)]
    Database(#[from] UnusableDatabase),
    #[error("{}, line {line}: {why}; each line must contain one FEN or EPD", path.display())]
    Opening { path: PathBuf, line: usize, why: String },
}

impl From<ServerError> for ArenaError {
    fn from(error: ServerError) -> ArenaError {
        match error {
            ServerError::Config(why) => ArenaError::Config(why),
            error @ ServerError::Listen { .. } => ArenaError::Listen(error),
        }
    }
}

impl ArenaError {
    /// Returns whether the configuration must change, rather than the machine.
    pub fn is_configuration(&self) -> bool {
        match self {
            ArenaError::Listen(_) | ArenaError::Games(_) => false,
            ArenaError::Database(database) => !database.why.is_outage(),
            _ => true,
        }
    }

    /// Returns whether another arena on the same database has what is asked for.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self, ArenaError::Database(database) if database.is_taken())
    }
}

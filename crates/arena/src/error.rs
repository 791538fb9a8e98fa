//! Errors that keep an arena from starting.

use std::{io, net::SocketAddr, path::PathBuf};

/// Why an arena cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// Invalid configuration.
    #[error("[arena] {0}")]
    Config(String),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}; is another server running there?")]
    Listen {
        /// The configured address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The folder for games cannot be written.
    #[error("cannot write games to {}: {source}; set games = \"…\" to a folder that can be written", folder.display())]
    Games {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of openings cannot be read.
    #[error("cannot read the openings {}: {source}", path.display())]
    Openings {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of the users of IMCS cannot be read.
    #[error("cannot read the users of IMCS, {}: {why}; mend it, or set users = \"…\" in [arena.imcs] to another file", path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// The mistake.
        why: String,
    },
    /// The persistent state cannot be used.
    #[error("cannot use the state {}: {why}; move it away, or set state = \"…\" in [arena.lichess] to another file", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The mistake.
        why: String,
    },
    /// A line of the openings is wrong.
    #[error("{}, line {line}: {why}; each line is to hold one FEN or EPD", path.display())]
    Opening {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The mistake.
        why: String,
    },
}

impl ArenaError {
    /// Returns whether the configuration must change, rather than the machine.
    pub fn is_configuration(&self) -> bool {
        match self {
            ArenaError::Config(_)
            | ArenaError::Openings { .. }
            | ArenaError::Opening { .. }
            | ArenaError::Users { .. }
            | ArenaError::State { .. } => true,
            ArenaError::Listen { .. } | ArenaError::Games { .. } => false,
        }
    }
}

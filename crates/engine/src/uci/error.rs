//! Errors that end the engine under a GUI.

use std::io;

use crate::transposition_table::OutOfMemory;

/// Fatal error of the engine under a GUI.
#[derive(Debug, thiserror::Error)]
pub enum UciError {
    /// The GUI does not read any more.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    /// No memory for the transposition table at the start.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

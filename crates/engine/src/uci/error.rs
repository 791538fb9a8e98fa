//! Errors of the engine under a GUI.

use std::io;

use zeitnot_wire::WireError;

use crate::memory::OutOfMemory;

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

/// Error of one command, which the GUI is told.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("no position: the last one was invalid; send another one")]
    NoPosition,
    #[error("a line of more than 1 MiB was skipped")]
    TooLongLine,
    #[error("go: '{0}' is unknown or lacks a number; ignored")]
    Ignored(String),
}

impl CommandError {
    /// Returns whether the GUI may now have another position in mind than we know.
    pub(super) fn hides_position(&self) -> bool {
        matches!(
            self,
            CommandError::TooLongLine | CommandError::Wire(WireError::Field { message: "position", .. })
        )
    }
}

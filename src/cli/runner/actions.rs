//! The `action` file: one line per move, each in one write, so that a kill leaves whole lines only.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use zeitnot_rules::minichess::Move;
use zeitnot_wire::nthu::print_action;

/// The open `action` file.
pub(super) struct Actions {
    file: File,
    last: Option<Move>,
    failed: io::Result<()>,
}

impl Actions {
    /// Opens the file for appending.
    pub(super) fn open(path: &Path) -> io::Result<Actions> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        // Its old content answers another position. Fails for a pipe, which has none.
        let _ = file.set_len(0);
        Ok(Actions { file, last: None, failed: Ok(()) })
    }

    /// Writes a move, unless it is the last one written, or an earlier write failed.
    pub(super) fn write(&mut self, mv: Move) {
        if self.last != Some(mv) && self.failed.is_ok() {
            self.failed = self.file.write_all(print_action(mv).as_bytes());
            self.last = Some(mv);
        }
    }

    /// Returns the first error of a write.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))
    }
}

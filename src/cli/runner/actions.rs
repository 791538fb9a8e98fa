//! The `action` file: one line a move, each in one write, so that whoever kills us finds whole lines only.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use zeitnot_rules::minichess::Move;
use zeitnot_wire::nthu::print_action;

/// Where the moves go.
pub(super) struct Actions {
    file: File,
    last: Option<Move>,
    failed: io::Result<()>,
}

impl Actions {
    /// Opens the file, once; it is only ever appended to.
    pub fn open(path: &Path) -> io::Result<Actions> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        // What stands there already answers another position. A pipe has no length to set, and nothing stale.
        let _ = file.set_len(0);
        Ok(Actions { file, last: None, failed: Ok(()) })
    }

    /// Writes a move, unless it is the one that was written last, or an earlier one could not be written.
    pub fn write(&mut self, mv: Move) {
        if self.last != Some(mv) && self.failed.is_ok() {
            self.failed = self.file.write_all(print_action(mv).as_bytes());
            self.last = Some(mv);
        }
    }

    /// Was all written?
    pub fn finish(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))
    }
}

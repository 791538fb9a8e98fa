//! Findings of a check before anything is played: what the text of a configuration does not tell.

use std::path::PathBuf;

/// Findings in one `[[server]]` table.
#[derive(Debug, Default)]
pub struct Findings {
    /// Mistakes: each cannot work, and says what to do.
    pub mistakes: Vec<String>,
    /// Settings that work, but should be changed.
    pub warnings: Vec<String>,
    /// Paths that will be written, by their key.
    pub written: Vec<(&'static str, Written)>,
}

/// Path that will be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file, in a folder that exists.
    File(PathBuf),
    /// A folder, which is made if it does not exist.
    Folder(PathBuf),
}

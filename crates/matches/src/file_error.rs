//! Errors of the files that a match reads and writes.

use std::{
    io,
    path::{Path, PathBuf},
};

/// A file of a match that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// What it holds, or that it cannot be read: the user must mend it.
    #[error("{}: {why}", path.display())]
    Content { path: PathBuf, why: String },
    #[error("{}: cannot be written: {source}; is it the right place?", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    #[error("{}: games that could not be written and are lost: {games}{why}; make room on the disk", path.display())]
    GamesLost { path: PathBuf, games: usize, why: String },
}

pub(crate) fn content(path: &Path, why: impl ToString) -> FileError {
    FileError::Content { path: path.to_owned(), why: why.to_string() }
}

pub(crate) fn unwritten(path: &Path) -> impl Fn(io::Error) -> FileError {
    move |source| FileError::Unwritten { path: path.to_owned(), source }
}

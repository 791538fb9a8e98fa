//! Errors of files of games, each with what to do.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::game_record::BadGame;

/// Reason why a file of games cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GameFileError {
    #[error("{}: another program writes there; wait for its end, or choose another file", .0.display())]
    InUse(PathBuf),
    #[error("{}: not a file of games, or one of a newer zeitnot; choose one of `zeitnot datagen`", .0.display())]
    NotGames(PathBuf),
    #[error("{}: holds {error}; generate it anew", path.display())]
    BadGame { path: PathBuf, error: BadGame },
    #[error("cannot use {}: {source}; is its folder there, and is it yours?", path.display())]
    Io { path: PathBuf, source: io::Error },
}

pub(super) fn io_error(path: &Path, source: io::Error) -> GameFileError {
    GameFileError::Io { path: path.to_owned(), source }
}

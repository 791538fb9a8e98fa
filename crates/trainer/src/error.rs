//! Reasons why a net cannot be trained.

use std::{io, path::PathBuf};

use crate::games::GameFileError;

#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error(transparent)]
    Games(#[from] GameFileError),
    /// The files are empty, or have one game and that is held out.
    #[error("the files hold no games to learn from; generate some by `zeitnot datagen`")]
    NoGames,
    /// All positions are in check, or before a capture.
    #[error("the games hold no quiet positions to learn from; generate more by `zeitnot datagen`")]
    NoPositions,
    #[error("checkpoint {}: {source}; is its folder there, and is it yours?", path.display())]
    Checkpoint { path: PathBuf, source: io::Error },
    #[error("{}: not a checkpoint of `zeitnot train`; name another, or remove it", .0.display())]
    NotACheckpoint(PathBuf),
    #[error("{}: is of a newer zeitnot; update this one, or name another checkpoint", .0.display())]
    NewerCheckpoint(PathBuf),
    #[error("{}: begun with {was}, not {now}; name another checkpoint, or remove it", path.display())]
    Differs { path: PathBuf, was: String, now: String },
}

impl TrainError {
    /// Returns whether other files or settings help, and not another try.
    pub fn is_usage(&self) -> bool {
        match self {
            TrainError::Games(error) => !matches!(error, GameFileError::Io { .. }),
            TrainError::Checkpoint { .. } => false,
            TrainError::NoGames | TrainError::NoPositions => true,
            TrainError::NotACheckpoint(_) | TrainError::NewerCheckpoint(_) | TrainError::Differs { .. } => {
                true
            }
        }
    }
}

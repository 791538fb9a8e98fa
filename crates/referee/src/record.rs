//! Record of a finished game.

use std::sync::Arc;

use time::OffsetDateTime;
use zeitnot_rules::DynGame;

use crate::{
    ending::{Cause, Ending},
    machine::{PlayedMove, Referee},
};

/// Game that is over.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// When it began.
    pub began: OffsetDateTime,
    /// Initial position, unless it is the usual one.
    pub fen: Option<String>,
    /// Moves.
    pub plies: Vec<Arc<PlayedMove>>,
    /// Result and its cause.
    pub ending: Ending,
}

impl GameRecord {
    /// Takes the record of a game; one that still goes on counts as aborted.
    pub fn new(referee: Referee<DynGame>, began: OffsetDateTime) -> GameRecord {
        let ending = referee.ending.unwrap_or(Ending { result: None, cause: Cause::Aborted });
        GameRecord { began, fen: referee.board.own_start(), plies: referee.plies, ending }
    }
}

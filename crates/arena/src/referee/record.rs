//! Record of a finished game.

use time::OffsetDateTime;
use zeitnot_rules::{Game, GameHistory};

use super::{
    ending::{Cause, Ending},
    machine::{Ply, Referee},
};

/// Game that is over.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// When it began.
    pub began: OffsetDateTime,
    /// Initial position, unless it is the usual one.
    pub fen: Option<String>,
    /// Moves.
    pub plies: Vec<Ply>,
    /// Result and its cause.
    pub ending: Ending,
}

impl GameRecord {
    /// Takes the record of a game; one that still goes on counts as aborted.
    pub fn new<G: Game>(referee: Referee<GameHistory<G>>, began: OffsetDateTime) -> GameRecord {
        let root = referee.board().root();
        let fen = Some(root.print()).filter(|fen| *fen != root.start_position().print());
        let ending = referee.ending().unwrap_or(Ending { result: None, cause: Cause::Aborted });
        GameRecord { began, fen, plies: referee.into_plies(), ending }
    }
}

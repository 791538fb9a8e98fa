//! Stored games, move by move.

use std::time::Duration;

use zeitnot_rules::{DynGame, GameError};

use crate::database::GameState;

/// Move of a stored game.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) text: String,
    pub(crate) san: String,
    /// Position after it.
    pub(crate) fen: String,
    pub(crate) left: Option<Duration>,
    /// Unknown in games of earlier arenas.
    pub(crate) spent: Option<Duration>,
}

/// Stored game with its positions.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) start: String,
    pub(crate) plies: Vec<Replayed>,
}

impl Replay {
    /// Plays a game again. Where chance had a part in a move, the stored position follows it.
    ///
    /// # Errors
    /// [`GameError`] of the first move that does not fit the rules.
    pub(crate) fn new(game: &GameState) -> Result<Replay, GameError> {
        let kind = game.header.kind;
        let mut board = DynGame::begin(kind, game.header.start.as_deref())?;
        let start = board.root();
        let (mut plies, mut dealt) = (Vec::new(), game.moves.positions());
        for (text, (left, spent)) in game.moves.iter() {
            let mv = board.read(text)?;
            let san = board.san(&mv)?;
            match dealt.next() {
                Some(position) => board = DynGame::begin(kind, Some(position))?,
                None => board.play(&mv)?,
            }
            plies.push(Replayed { text: mv.to_string(), san, fen: board.now(), left, spent });
        }
        Ok(Replay { start, plies })
    }
}

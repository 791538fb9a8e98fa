//! Errors in positions and moves from outside.

use std::fmt;

/// A position or a move from outside that the rules refuse.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum GameError {
    /// Text that is not a position.
    #[error("'{text}' is not a position of {game}: {why}")]
    Position {
        /// The text, shortened.
        text: String,
        /// The game's name.
        game: &'static str,
        /// The reason.
        why: String,
    },
    /// Text that is not a legal move.
    #[error("'{0}' is not a legal move here")]
    Move(String),
}

impl GameError {
    pub(crate) fn position(text: &str, game: &'static str, why: impl fmt::Display) -> Self {
        GameError::Position { text: shorten(text), game, why: why.to_string() }
    }

    pub(crate) fn illegal(text: &str) -> Self {
        GameError::Move(shorten(text))
    }
}

/// Makes text from outside fit for an error line: short, and without control characters.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

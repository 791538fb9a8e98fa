//! Results of games, as records write them.

use std::fmt;

use crate::{
    color::Color,
    game::{Outcome, Reason},
    kind::GameKind,
};

/// The result of a finished game.
///
/// ```
/// use zeitnot_rules::{Color, GameResult};
/// assert_eq!(GameResult::Won(Color::Black).to_string(), "0-1");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// One side has won.
    Won(Color),
    /// A draw.
    Draw,
}

impl GameResult {
    /// The result in the notation of PGN.
    pub fn as_str(self) -> &'static str {
        match self {
            GameResult::Won(Color::White) => "1-0",
            GameResult::Won(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Outcome {
    /// The result and the reason, once the game is over.
    pub fn result(self) -> Option<(GameResult, Reason)> {
        match self {
            Outcome::Ongoing => None,
            Outcome::Draw(reason) => Some((GameResult::Draw, reason)),
            Outcome::Win(winner, reason) => Some((GameResult::Won(winner), reason)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Checkmate => "Checkmate",
            Reason::Stalemate => "Stalemate",
            Reason::InsufficientMaterial => "Insufficient material",
            Reason::ThreefoldRepetition => "Threefold repetition",
            Reason::Repetition => "Repetition",
            Reason::FiftyMoves => "Fifty moves without capture or pawn push",
            Reason::KingCaptured => "King captured",
            Reason::KingEnPrise => "King left en prise",
            Reason::NoMoves => "No moves",
            Reason::MoveLimit | Reason::Material(_) => "Move limit",
            Reason::BareKings => "Only the kings are left",
            Reason::VariantEnd(kind) => variant_end(*kind),
        })
    }
}

/// Returns how a variant of chess ends in its own way.
fn variant_end(kind: GameKind) -> &'static str {
    match kind {
        GameKind::Atomic => "King exploded",
        GameKind::Antichess => "No pieces or no moves left",
        GameKind::Horde => "All pieces of the horde captured",
        GameKind::KingOfTheHill => "King in the centre",
        GameKind::RacingKings => "King on the last rank",
        GameKind::ThreeCheck => "Third check",
        _ => "End of the variant",
    }
}

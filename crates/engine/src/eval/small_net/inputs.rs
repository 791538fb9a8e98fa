//! Inputs of a small net: what is on the board as one side sees it, and facts about the rest of the position.

use zeitnot_rules::{Color, Tactics};

/// A piece or a prize on a square.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The side it belongs to; `None` for a prize.
    pub owner: Option<Color>,
    /// The kind, from 0, among the pieces or among the prizes.
    pub kind: usize,
    /// The square, counted row by row from White's or Black's end of the board.
    pub square: usize,
}

/// A game with small nets: their inputs.
///
/// Both sides see the board alike: Black's is turned by half a circle, or as the game says
/// ([`seen`](NetInputs::seen)).
pub trait NetInputs: Tactics {
    /// Kinds of pieces.
    const KINDS: usize;
    /// Kinds of prizes.
    const PRIZE_KINDS: usize = 0;
    /// Squares of the board, or of the largest one if they differ.
    const SQUARES: usize;
    /// Number of facts about a position besides its pieces.
    const FACTS: usize;
    /// Inputs by squares.
    const PLACES: usize = (2 * Self::KINDS + Self::PRIZE_KINDS) * Self::SQUARES;
    /// All inputs of a view.
    const INPUTS: usize = Self::PLACES + Self::FACTS;

    /// Passes on what is on the board.
    fn placed(&self, visit: impl FnMut(Placed));

    /// Passes on what a move takes off the board (`false`) or puts there (`true`).
    fn changes(&self, mv: Self::Move, change: impl FnMut(Placed, bool));

    /// Passes on facts as White and as Black see them, each below [`NetInputs::FACTS`].
    fn facts(&self, visit: impl FnMut([usize; 2]));

    /// The output layer for this position, below [`BUCKETS`](super::BUCKETS).
    fn bucket(&self) -> usize;

    /// A square as a side sees it.
    fn seen(&self, view: Color, square: usize) -> usize {
        if view == Color::White { square } else { Self::SQUARES - 1 - square }
    }

    /// The input of a piece or a prize in a side's view.
    fn input(&self, view: Color, placed: Placed) -> usize {
        let kind = match placed.owner {
            Some(owner) if owner == view => placed.kind,
            Some(_) => Self::KINDS + placed.kind,
            None => 2 * Self::KINDS + placed.kind,
        };
        kind * Self::SQUARES + self.seen(view, placed.square)
    }

    /// The input that is active on the board mirrored from left to right, by the same rules.
    fn mirrored(&self, input: usize) -> usize {
        if input >= Self::PLACES {
            return input;
        }
        let column = input % Self::SQUARES % self.columns();
        input - column + (self.columns() - 1 - column)
    }
}

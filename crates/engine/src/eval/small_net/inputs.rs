//! Inputs of a small net: the pieces as one side sees them, and facts about the rest of the position.

use zeitnot_rules::{Color, Tactics};

/// A piece on a square.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The side it belongs to.
    pub owner: Color,
    /// The kind, from 0.
    pub kind: usize,
    /// The square, counted from White's or Black's end of the board.
    pub square: usize,
}

/// A game with small nets: their inputs.
///
/// Both sides see the board alike: Black's is turned by half a circle.
pub trait NetInputs: Tactics {
    /// Kinds of pieces.
    const KINDS: usize;
    /// Columns of the board.
    const COLUMNS: usize;
    /// Squares of the board.
    const SQUARES: usize;
    /// Number of facts about a position besides its pieces.
    const FACTS: usize;
    /// Inputs by squares.
    const PLACES: usize = 2 * Self::KINDS * Self::SQUARES;
    /// All inputs of a view.
    const INPUTS: usize = Self::PLACES + Self::FACTS;

    /// Passes on the pieces on the board.
    fn pieces(&self, visit: impl FnMut(Placed));

    /// Passes on the pieces that a move takes off the board (`false`) or puts there (`true`).
    fn changes(&self, mv: Self::Move, change: impl FnMut(Placed, bool));

    /// Two facts that hold for a side, each below [`NetInputs::FACTS`].
    fn facts(&self, view: Color) -> [usize; 2];

    /// The output layer for this position, below [`BUCKETS`](super::BUCKETS).
    fn bucket(&self) -> usize;

    /// The input of a piece in a side's view.
    fn input(view: Color, piece: Placed) -> usize {
        let kind = if piece.owner == view { piece.kind } else { Self::KINDS + piece.kind };
        let square = if view == Color::White { piece.square } else { Self::SQUARES - 1 - piece.square };
        kind * Self::SQUARES + square
    }

    /// The input that is active on the board mirrored from left to right, by the same rules.
    fn mirrored(input: usize) -> usize {
        if input >= Self::PLACES {
            return input;
        }
        let column = input % Self::SQUARES % Self::COLUMNS;
        input - column + (Self::COLUMNS - 1 - column)
    }

    /// The facts of a side as inputs.
    fn fact_inputs(&self, view: Color) -> [usize; 2] {
        self.facts(view).map(|fact| Self::PLACES + fact)
    }
}

//! The board that comes with each request for a move, line by line.

use zeitnot_rules::Color;
use zeitnot_wire::imcs::letter;

/// Ranks of a board.
const RANKS: usize = 6;

/// A board as far as its lines have come.
#[derive(Debug, Default)]
pub(super) struct BoardLines {
    header: Option<(u32, Color)>,
    ranks: Vec<String>,
}

impl BoardLines {
    pub(super) fn new(number: u32, color: Color) -> BoardLines {
        BoardLines { header: Some((number, color)), ranks: Vec::with_capacity(RANKS) }
    }

    /// Adds a line. A board that has all ignores more.
    pub(super) fn add(&mut self, rank: String) {
        if self.ranks.len() < RANKS {
            self.ranks.push(rank);
        }
    }

    /// Returns the number of the move.
    pub(super) fn number(&self) -> u32 {
        self.header.map_or(1, |(number, _)| number)
    }

    /// Returns the position, if all lines have come.
    pub(super) fn position(&self) -> Option<String> {
        let (number, color) = self.header?;
        let is_complete = self.ranks.len() == RANKS;
        is_complete.then(|| format!("{} {} {number}", self.ranks.join("/"), letter(color)))
    }
}

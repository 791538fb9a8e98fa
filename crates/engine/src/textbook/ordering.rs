//! Move ordering: the table's move first, then the most promising by simple rules.
//!
//! Sources: Chess Programming Wiki, "Move Ordering" and "MVV-LVA"; the positional order is from a course report at
//! VinUni, its points are hand-picked.

use std::cmp::Reverse;

use zeitnot_rules::{Color, Moves, Tactics};

/// Points of a check, in centipawns.
const CHECK: i32 = 50;
/// Points of a move into the opponent's half of the board.
const SPACE: i32 = 10;

/// Order of the moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MoveOrder {
    /// Captures by MVV-LVA, then quiet moves as generated.
    Captures,
    /// By capture, check, space and centre.
    Positional,
}

impl MoveOrder {
    /// Sorts the most promising moves to the front.
    pub(super) fn sort<G: Tactics>(self, position: &G, moves: &mut Moves<G::Move>, first: Option<G::Move>) {
        moves.sort_by_cached_key(|&mv| {
            let gain = position.gain(mv);
            let attacker = if gain > 0 { position.piece_value(mv) } else { 0 };
            let points = match self {
                MoveOrder::Captures => gain,
                MoveOrder::Positional => gain + positional(position, mv),
            };
            (Some(mv) != first, Reverse(points), attacker)
        });
    }
}

fn positional<G: Tactics>(position: &G, mv: G::Move) -> i32 {
    let check = if position.gives_check(mv) { CHECK } else { 0 };
    let (rows, columns) = (position.rows(), position.columns());
    let (row, column) = (position.target(mv) / columns, position.target(mv) % columns);
    let upward = (position.side_to_move() == Color::White) == G::WHITE_ASCENDS;
    let advanced = if upward { row } else { rows - 1 - row };
    let space = if 2 * advanced >= rows { SPACE } else { 0 };
    check + space + from_edge(row, rows) + from_edge(column, columns)
}

/// Distance of a row or column from the closer edge: the larger, the closer to the centre.
fn from_edge(at: usize, count: usize) -> i32 {
    at.min(count - 1 - at) as i32
}

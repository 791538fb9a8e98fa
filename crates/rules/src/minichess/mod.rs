//! MiniChess on 6×5 squares, by the rules of three course servers.
//!
//! One move generator and one table of settings: the servers differ in their [`Rules`]. There is no notion
//! of check; a king is captured like any piece. Squares are counted from a1, row by row.

mod pieces;
mod position;
mod rules;
#[cfg(test)]
mod tests;

pub use pieces::{Board, COLUMNS, Kind, Move, ROWS, SQUARES, Square};
pub use position::MiniChess;
pub use rules::Rules;

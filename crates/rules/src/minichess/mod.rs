//! MiniChess on 6×5 squares, by the rules of three course servers.
//!
//! One move generator and one table of settings: the differences of the servers are in [`Rules`]. There is no notion
//! of check; a king is captured like any piece. Squares are counted from a1, row by row.

mod pieces;
mod position;
mod rules;
#[cfg(test)]
mod tests;

pub use pieces::{Board, COLUMNS, Kind, Move, ROWS, SQUARES, Square};
pub use position::MiniChess;
pub use rules::{AtTheLimit, Imcs2009, KingRule, Nthu2023, Nthu2026, Rules};

/// MiniChess on the Internet MiniChess Server of Portland State University.
pub type Imcs = MiniChess<Imcs2009>;
/// MiniChess as the NTHU course of 2023 played it, by files.
pub type Mini2023 = MiniChess<Nthu2023>;
/// MiniChess as the NTHU course of 2026 plays it, by UBGI.
pub type Mini2026 = MiniChess<Nthu2026>;

//! TUC-Chess: kings, rooks and pawns on 7×5 squares with prizes, decided by points.
//!
//! Squares are (row, column), both from 0; row 0 is Black's home, on top. The value of a prize is hidden until a piece
//! takes it: [`Game::play`](crate::Game::play) counts it at its expected value, and the server's message corrects that
//! (see [`Tuc::hear`]). Points are therefore counted in hundredths.
//!
//! Source: the course server of the Technical University of Crete, its editions of 2019, 2021 and 2022.

mod pieces;
mod position;
mod rules;
#[cfg(test)]
mod tests;

pub use pieces::{Board, COLUMNS, Kind, Move, ROWS, SQUARES, Square};
pub use position::{POINT, Tuc};
pub use rules::{Edition, Extra, Rules};

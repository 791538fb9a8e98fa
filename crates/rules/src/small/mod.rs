//! Games on boards of at most 64 squares that are not chess: squares, bitboards, attacks, move generation and static
//! exchange, shared by [MiniChess](crate::minichess) and [TUC-Chess](crate::tuc).
//!
//! A game describes its pieces as a [`PieceKind`]; the size of the board is a constant of the type.

mod bits;
mod board;
mod exchange;
mod geometry;
mod square;
mod text;

pub(crate) use bits::{Bits, mix};
pub(crate) use board::{Board, Movement, PieceKind};
pub(crate) use exchange::Exchange;
pub(crate) use geometry::{ORTHOGONAL, steps};
pub(crate) use square::{Move, Square};

//! The board of TUC-Chess, 7 rows of 5 squares, and its pieces.

use std::fmt;

use crate::{
    color::Color,
    small::{self, Movement, ORTHOGONAL, PieceKind},
};

/// Columns, from 0 on White's left.
pub const COLUMNS: usize = 5;
/// Rows, from 0 on Black's side.
pub const ROWS: usize = 7;
/// Squares.
pub const SQUARES: usize = COLUMNS * ROWS;

/// A square, counted from Black's left-hand corner as White sees it, row by row.
pub type Square = small::Square<COLUMNS, SQUARES>;
/// A move from a square to a square.
pub type Move = small::Move<COLUMNS, SQUARES>;
/// The pieces on their squares.
pub type Board = small::Board<Kind, 3, COLUMNS, SQUARES>;

impl Square {
    /// Reads two digits, row and column.
    pub fn parse([row, column]: [u8; 2]) -> Option<Square> {
        Square::at(row.wrapping_sub(b'0').into(), column.wrapping_sub(b'0').into())
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.row(), self.column())
    }
}

impl Move {
    /// Reads four digits, as the course writes moves: from row and column to row and column.
    pub fn parse(text: &str) -> Option<Move> {
        let &[a, b, c, d] = text.as_bytes() else { return None };
        Some(Move { from: Square::parse([a, b])?, to: Square::parse([c, d])? })
    }
}

/// A kind of piece.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Pawn,
    Rook,
    King,
}

impl PieceKind for Kind {
    const ALL: &'static [Kind] = &[Kind::Pawn, Kind::Rook, Kind::King];
    const MOVEMENTS: &'static [Movement] = &[Movement::Pawn, Movement::Rook, Movement::Leaper(&ORTHOGONAL)];
    const LETTERS: &'static [u8] = b"PRK";
    const PAWN: Kind = Kind::Pawn;
    const KING: Kind = Kind::King;
    const FORWARD: i32 = -1;
    /// A rook goes no farther.
    const RANGE: usize = 3;
    const KEY_SALT: u64 = 1 << 23;

    fn index(self) -> usize {
        self as usize
    }
}

impl Kind {
    /// Points for capturing it.
    pub const fn points(self) -> i32 {
        match self {
            Kind::Pawn => 1,
            Kind::Rook => 3,
            Kind::King => 8,
        }
    }
}

pub(super) fn start() -> Board {
    const HOME: [Kind; COLUMNS] = [Kind::Pawn, Kind::Rook, Kind::King, Kind::Rook, Kind::Pawn];
    let mut board = Board::empty();
    for (column, kind) in HOME.into_iter().enumerate() {
        for (color, home, pawns) in [(Color::Black, 0, 1), (Color::White, ROWS - 1, ROWS - 2)] {
            board.put(Square::new(home * COLUMNS + column), color, kind);
            board.put(Square::new(pawns * COLUMNS + column), color, Kind::Pawn);
        }
    }
    board
}

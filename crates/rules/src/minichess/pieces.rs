//! The board of MiniChess, 6 rows of 5 squares, and its pieces.

use std::fmt;

use crate::{
    color::Color,
    small::{self, Movement, PieceKind},
};

/// Files, a to e.
pub const COLUMNS: usize = 5;
/// Ranks, 1 to 6.
pub const ROWS: usize = 6;
/// Squares.
pub const SQUARES: usize = COLUMNS * ROWS;

/// A square, counted from a1, row by row; row 0 is the first rank.
pub type Square = small::Square<COLUMNS, SQUARES>;
/// A move from a square to a square.
pub type Move = small::Move<COLUMNS, SQUARES>;
/// The pieces on their squares.
pub type Board = small::Board<Kind, 6, COLUMNS, SQUARES>;

impl Square {
    /// Reads `a1` to `e6`.
    pub fn parse([column, row]: [u8; 2]) -> Option<Square> {
        Square::at(row.wrapping_sub(b'1').into(), column.wrapping_sub(b'a').into())
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.column() as u8), self.row() + 1)
    }
}

/// A kind of piece.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Pawn,
    Rook,
    Knight,
    Bishop,
    Queen,
    King,
}

impl Kind {
    /// All kinds, in the order in which the NTHU files number them, from 1.
    pub const ALL: [Kind; 6] = [Kind::Pawn, Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King];

    /// The kind of this piece once it has moved to `to`: a pawn on its last row becomes a queen.
    pub(super) fn after(self, to: Square, color: Color) -> Kind {
        match self {
            Kind::Pawn if to.row() == Board::last_row(color) => Kind::Queen,
            other => other,
        }
    }
}

impl PieceKind for Kind {
    const ALL: &'static [Kind] = &Kind::ALL;
    const MOVEMENTS: &'static [Movement] = &[
        Movement::Pawn,
        Movement::Rook,
        Movement::Leaper(&[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]),
        Movement::Bishop,
        Movement::Queen,
        Movement::Leaper(&[(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]),
    ];
    const LETTERS: &'static [u8] = b"PRNBQK";
    const PAWN: Kind = Kind::Pawn;
    const KING: Kind = Kind::King;
    const FORWARD: i32 = 1;
    const RANGE: usize = ROWS;
    const KEY_SALT: u64 = 0;

    fn index(self) -> usize {
        self as usize
    }
}

pub(super) fn start() -> Board {
    const BACK_ROW: [Kind; COLUMNS] = [Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King];
    let mut board = Board::empty();
    for (column, kind) in BACK_ROW.into_iter().enumerate() {
        board.put(Square::new(column), Color::White, kind);
        board.put(Square::new(COLUMNS + column), Color::White, Kind::Pawn);
        board.put(Square::new(SQUARES - 1 - column), Color::Black, kind);
        board.put(Square::new(SQUARES - 1 - COLUMNS - column), Color::Black, Kind::Pawn);
    }
    board
}

/// White's lead by these values.
pub(super) fn balance(board: &Board, value: fn(Kind) -> i32) -> i32 {
    let count = |color, kind| board.of_color(kind, color).count_ones() as i32;
    Kind::ALL.iter().map(|&kind| value(kind) * (count(Color::White, kind) - count(Color::Black, kind))).sum()
}

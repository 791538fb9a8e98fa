//! Squares of a small board, and moves between them.

use std::fmt;

use crate::game::Packed;

/// A square of a small board, counted row by row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Square<const COLUMNS: usize, const SQUARES: usize>(u8);

impl<const COLUMNS: usize, const SQUARES: usize> Square<COLUMNS, SQUARES> {
    /// The square with this index; wraps around beyond the board.
    pub const fn new(index: usize) -> Self {
        Square((index % SQUARES) as u8)
    }

    /// The square in this row and column, if it is on the board.
    pub const fn at(row: usize, column: usize) -> Option<Self> {
        let on_board = column < COLUMNS && row < SQUARES / COLUMNS;
        if on_board { Some(Square((row * COLUMNS + column) as u8)) } else { None }
    }

    /// Its index, below the number of squares.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The row, from 0.
    pub const fn row(self) -> usize {
        self.index() / COLUMNS
    }

    /// The column, from 0.
    pub const fn column(self) -> usize {
        self.index() % COLUMNS
    }

    /// The set of this square alone.
    pub(crate) const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// A move from a square to a square; all else follows from the board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move<const COLUMNS: usize, const SQUARES: usize> {
    /// Where the piece stands.
    pub from: Square<COLUMNS, SQUARES>,
    /// Where it goes.
    pub to: Square<COLUMNS, SQUARES>,
}

impl<const COLUMNS: usize, const SQUARES: usize> Move<COLUMNS, SQUARES> {
    /// Marks a packed move, so that none is [`Packed::NONE`].
    const MARK: u16 = 1 << 12;

    pub(crate) fn pack(self) -> Packed {
        Packed(Self::MARK | (self.from.index() as u16) << 6 | self.to.index() as u16)
    }

    /// `None` unless both squares are on the board.
    pub(crate) fn unpack(packed: Packed) -> Option<Self> {
        let square = |bits: u16| Some(usize::from(bits & 63)).filter(|&at| at < SQUARES).map(Square::new);
        let (from, to) = square(packed.0 >> 6).zip(square(packed.0)).filter(|_| packed.0 >> 12 == 1)?;
        Some(Move { from, to })
    }
}

impl<const COLUMNS: usize, const SQUARES: usize> fmt::Display for Move<COLUMNS, SQUARES>
where
    Square<COLUMNS, SQUARES>: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)
    }
}

//! Thirty-five squares, the men and the prizes on them, as sets of squares.

use std::fmt;

use super::{Bits, Color, Move, steps};
use crate::{ByColor, bits};

/// Columns, from 0 on White's left.
pub const COLUMNS: usize = 5;
/// Rows, from 0 on Black's side.
pub const ROWS: usize = 7;
/// Squares.
pub const SQUARES: usize = COLUMNS * ROWS;

/// A square, counted from Black's left-hand corner as White sees it, row by row.
pub type Square = bits::Square<COLUMNS, SQUARES>;

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

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from, self.to)
    }
}

/// What a man is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Pawn,
    Rook,
    King,
}

impl Kind {
    /// All.
    pub const ALL: [Kind; 3] = [Kind::Pawn, Kind::Rook, Kind::King];

    /// Points for taking it.
    pub const fn points(self) -> i32 {
        match self {
            Kind::Pawn => 1,
            Kind::Rook => 3,
            Kind::King => 8,
        }
    }

    fn letter(self, side: Color) -> char {
        let letter = ['P', 'R', 'K'][self as usize];
        if side == Color::White { letter } else { letter.to_ascii_lowercase() }
    }
}

/// The squares of a row.
pub(super) const fn row(row: usize) -> u64 {
    ((1 << COLUMNS) - 1) << (row * COLUMNS)
}

/// Where this side's pawns leave the board.
pub(super) const fn last_row(side: Color) -> usize {
    match side {
        Color::White => 0,
        Color::Black => ROWS - 1,
    }
}

const ALL: u64 = (1 << SQUARES) - 1;
/// Where a rook goes on an empty board: up and left, where the numbers of squares fall, then down and right.
const RAYS: [[u64; SQUARES]; 4] = [ray(-1, 0), ray(0, -1), ray(1, 0), ray(0, 1)];
/// One step up, for White, and one down.
const AHEAD: [[u64; SQUARES]; 2] = [steps(COLUMNS as i32, &[(-1, 0)]), steps(COLUMNS as i32, &[(1, 0)])];
/// One step along a row or a column.
const STEPS: [u64; SQUARES] = steps(COLUMNS as i32, &[(-1, 0), (1, 0), (0, -1), (0, 1)]);
/// Where a pawn captures.
const CAPTURES: [[u64; SQUARES]; 2] =
    [steps(COLUMNS as i32, &[(-1, -1), (-1, 1)]), steps(COLUMNS as i32, &[(1, -1), (1, 1)])];

/// The squares in one direction; a rook goes no farther than three.
const fn ray(rows: i32, columns: i32) -> [u64; SQUARES] {
    let one = steps::<SQUARES>(COLUMNS as i32, &[(rows, columns)]);
    let mut rays = one;
    let mut square = 0;
    while square < SQUARES {
        let mut step = 1;
        while step < 3 && rays[square] != 0 {
            let last = if rows + columns > 0 {
                63 - rays[square].leading_zeros()
            } else {
                rays[square].trailing_zeros()
            };
            rays[square] |= one[last as usize];
            step += 1;
        }
        square += 1;
    }
    rays
}

/// What stands where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    kinds: [u64; 3],
    sides: ByColor<u64>,
    prizes: u64,
}

impl Board {
    /// Nothing anywhere.
    pub(super) fn empty() -> Board {
        Board { kinds: [0; 3], sides: ByColor([0; 2]), prizes: 0 }
    }

    pub(super) fn start() -> Board {
        let mut board = Board::empty();
        const HOME: [Kind; COLUMNS] = [Kind::Pawn, Kind::Rook, Kind::King, Kind::Rook, Kind::Pawn];
        for (column, kind) in HOME.into_iter().enumerate() {
            for (side, home, pawns) in [(Color::Black, 0, 1), (Color::White, ROWS - 1, ROWS - 2)] {
                board.put(Square::new(home * COLUMNS + column), side, kind);
                board.put(Square::new(pawns * COLUMNS + column), side, Kind::Pawn);
            }
        }
        board.prizes = row(ROWS / 2);
        board
    }

    pub(super) fn put(&mut self, square: Square, side: Color, kind: Kind) {
        self.kinds[kind as usize] |= square.bit();
        self.sides[side] |= square.bit();
    }

    pub(super) fn take(&mut self, square: Square, side: Color, kind: Kind) {
        self.kinds[kind as usize] &= !square.bit();
        self.sides[side] &= !square.bit();
    }

    pub(super) fn put_prize(&mut self, square: Square) {
        self.prizes |= square.bit();
    }

    pub(super) fn remove_prize(&mut self, square: Square) {
        self.prizes &= !square.bit();
    }

    /// Where prizes lie, a bit each.
    pub fn prizes(&self) -> u64 {
        self.prizes
    }

    /// The squares of one kind, of both sides, a bit each.
    pub fn of(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    /// The squares of one side, a bit each.
    pub fn side(&self, side: Color) -> u64 {
        self.sides[side]
    }

    pub(super) fn occupied(&self) -> u64 {
        self.sides[Color::White] | self.sides[Color::Black]
    }

    /// Squares with neither a man nor a prize, a bit each: there a new prize may appear.
    pub fn free(&self) -> u64 {
        ALL & !self.occupied() & !self.prizes
    }

    pub(super) fn has_both_kings(&self) -> bool {
        let kings = self.of(Kind::King);
        kings & self.sides[Color::White] != 0 && kings & self.sides[Color::Black] != 0
    }

    /// Who and what stands there.
    #[inline]
    pub fn man_at(&self, square: Square) -> Option<(Color, Kind)> {
        let side = Color::BOTH.into_iter().find(|&side| self.side(side) & square.bit() != 0)?;
        let kind = Kind::ALL.into_iter().find(|&kind| self.of(kind) & square.bit() != 0)?;
        Some((side, kind))
    }

    /// All men.
    pub fn men(&self) -> impl Iterator<Item = (Square, Color, Kind)> + '_ {
        Color::BOTH.into_iter().flat_map(move |side| {
            Kind::ALL.into_iter().flat_map(move |kind| {
                Bits(self.of(kind) & self.side(side)).map(move |at| (Square::new(at), side, kind))
            })
        })
    }

    /// Where a man can go, captures of its own side included.
    #[inline]
    pub fn reach(&self, from: Square, kind: Kind, side: Color) -> u64 {
        let at = from.index();
        match kind {
            Kind::Pawn => {
                let ahead = AHEAD[side as usize][at] & !self.occupied();
                ahead | CAPTURES[side as usize][at] & self.side(!side)
            }
            Kind::Rook => self.slide(at),
            Kind::King => STEPS[at],
        }
    }

    /// A rook's way ends at the first man or prize.
    fn slide(&self, from: usize) -> u64 {
        let blocked = self.occupied() | self.prizes;
        let mut reach = 0;
        for (way, ray) in RAYS.iter().enumerate() {
            let blockers = ray[from] & blocked;
            let beyond = match blockers {
                0 => 0,
                _ if way < 2 => ray[63 - blockers.leading_zeros() as usize],
                _ => ray[blockers.trailing_zeros() as usize],
            };
            reach |= ray[from] & !beyond;
        }
        reach
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in 0..ROWS {
            f.write_str(if row == 0 { "" } else { "/" })?;
            for column in 0..COLUMNS {
                let square = Square::new(row * COLUMNS + column);
                let letter = match self.man_at(square) {
                    Some((side, kind)) => kind.letter(side),
                    None if self.prizes & square.bit() != 0 => '*',
                    None => '.',
                };
                fmt::Write::write_char(f, letter)?;
            }
        }
        Ok(())
    }
}

impl Board {
    /// Reads what `Display` writes.
    pub(super) fn parse(text: &str) -> Result<Board, &'static str> {
        const SIZE: &str = "the board has seven rows of five squares, with '/' between them";
        let mut board = Board::empty();
        let mut rows = 0;
        for (row, men) in text.split('/').enumerate() {
            rows += 1;
            if row >= ROWS || men.chars().count() != COLUMNS {
                return Err(SIZE);
            }
            for (column, letter) in men.chars().enumerate() {
                board.parse_square(Square::new(row * COLUMNS + column), letter)?;
            }
        }
        if rows != ROWS {
            return Err(SIZE);
        }
        board.check()
    }

    fn parse_square(&mut self, square: Square, letter: char) -> Result<(), &'static str> {
        let side = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        match Kind::ALL.into_iter().find(|kind| kind.letter(side) == letter) {
            Some(kind) => self.put(square, side, kind),
            None if letter == '*' => self.put_prize(square),
            None if letter == '.' => {}
            None => return Err("a square holds one of KRPkrp, '*' for a prize, or '.'"),
        }
        Ok(())
    }

    fn check(self) -> Result<Board, &'static str> {
        for side in Color::BOTH {
            if (self.of(Kind::King) & self.side(side)).count_ones() > 1 {
                return Err("a side has more than one king");
            }
            if self.of(Kind::Pawn) & self.side(side) & row(last_row(side)) != 0 {
                return Err("a pawn stands on its last row, where it would have left the board");
            }
        }
        Ok(self)
    }
}

//! Thirty squares and what stands on them, as sets of squares.

use std::fmt;

use super::{Bits, Color, steps};
use crate::{ByColor, bits};

/// Files, a to e.
pub const COLUMNS: usize = 5;
/// Ranks, 1 to 6.
pub const ROWS: usize = 6;
/// Squares.
pub const SQUARES: usize = COLUMNS * ROWS;

/// A square, counted from a1, row by row; row 0 is the first rank.
pub type Square = bits::Square<COLUMNS, SQUARES>;

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

/// What a man is.
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
    /// All, in the order in which the NTHU files number them, from 1.
    pub const ALL: [Kind; 6] = [Kind::Pawn, Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King];

    fn letter(self, side: Color) -> char {
        let letter = ['P', 'R', 'N', 'B', 'Q', 'K'][self as usize];
        if side == Color::White { letter } else { letter.to_ascii_lowercase() }
    }

    fn parse(letter: char) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter(Color::White) == letter.to_ascii_uppercase())
    }

    /// What it is once it has moved there: a pawn on the last row is a queen.
    pub(super) fn after(self, to: Square, side: Color) -> Kind {
        match self {
            Kind::Pawn if to.row() == last_row(side) => Kind::Queen,
            other => other,
        }
    }
}

fn last_row(side: Color) -> usize {
    if side == Color::White { ROWS - 1 } else { 0 }
}

const ALL: u64 = (1 << SQUARES) - 1;
const FIRST_ROW: u64 = (1 << COLUMNS) - 1;
/// Where pawns of either side become queens.
pub(super) const LAST_ROWS: u64 = FIRST_ROW | FIRST_ROW << (SQUARES - COLUMNS);

/// One step along a row or a column.
pub(super) const STEPS: [u64; SQUARES] = steps(COLUMNS as i32, &[(1, 0), (-1, 0), (0, 1), (0, -1)]);
const KING: [u64; SQUARES] =
    steps(COLUMNS as i32, &[(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]);
const KNIGHT: [u64; SQUARES] =
    steps(COLUMNS as i32, &[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
/// Where a pawn captures.
const PAWN: [[u64; SQUARES]; 2] =
    [steps(COLUMNS as i32, &[(1, 1), (1, -1)]), steps(COLUMNS as i32, &[(-1, 1), (-1, -1)])];
/// Where a pawn goes.
const PUSH: [[u64; SQUARES]; 2] = [steps(COLUMNS as i32, &[(1, 0)]), steps(COLUMNS as i32, &[(-1, 0)])];

/// All that lies in one direction: up, right, up-right, up-left; then their opposites.
const RAYS: [[u64; SQUARES]; 8] = {
    const DIRECTIONS: [(i32, i32); 8] =
        [(1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)];
    let mut rays = [[0; SQUARES]; 8];
    let mut direction = 0;
    while direction < 8 {
        let (up, right) = DIRECTIONS[direction];
        let one = steps::<SQUARES>(COLUMNS as i32, &[(up, right)]);
        let mut square = 0;
        while square < SQUARES {
            let mut at = square;
            while one[at] != 0 {
                rays[direction][square] |= one[at];
                at = one[at].trailing_zeros() as usize;
            }
            square += 1;
        }
        direction += 1;
    }
    rays
};
/// The directions of rooks and bishops: those with growing square numbers, then the others.
const STRAIGHT: ([usize; 2], [usize; 2]) = ([0, 1], [4, 5]);
const DIAGONAL: ([usize; 2], [usize; 2]) = ([2, 3], [6, 7]);

/// Where a slider reaches: along each ray up to the first man, that one included.
fn slide(from: usize, occupied: u64, (upward, downward): ([usize; 2], [usize; 2])) -> u64 {
    let mut reach = 0;
    for ray in upward {
        let ray = RAYS[ray];
        let blockers = ray[from] & occupied;
        reach |= match blockers {
            0 => ray[from],
            _ => ray[from] & !ray[blockers.trailing_zeros() as usize],
        };
    }
    for ray in downward {
        let ray = RAYS[ray];
        let blockers = ray[from] & occupied;
        reach |= match blockers {
            0 => ray[from],
            _ => ray[from] & !ray[63 - blockers.leading_zeros() as usize],
        };
    }
    reach
}

/// What stands where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    kinds: [u64; 6],
    sides: ByColor<u64>,
}

impl Board {
    pub(super) fn start() -> Board {
        let mut board = Board { kinds: [0; 6], sides: ByColor([0; 2]) };
        const OFFICERS: [Kind; COLUMNS] = [Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King];
        for (column, kind) in OFFICERS.into_iter().enumerate() {
            board.put(Square::new(column), Color::White, kind);
            board.put(Square::new(COLUMNS + column), Color::White, Kind::Pawn);
            board.put(Square::new(SQUARES - 1 - column), Color::Black, kind);
            board.put(Square::new(SQUARES - 1 - COLUMNS - column), Color::Black, Kind::Pawn);
        }
        board
    }

    /// Reads the rows from the sixth rank down, with `/` between them and `.` for nothing.
    pub(super) fn parse(text: &str) -> Result<Board, &'static str> {
        let mut board = Board { kinds: [0; 6], sides: ByColor([0; 2]) };
        let mut rows = 0;
        for (row, men) in text.split('/').enumerate() {
            rows += 1;
            if row >= ROWS || men.chars().count() != COLUMNS {
                return Err("the board has six rows of five squares, with '/' between them");
            }
            for (column, letter) in men.chars().enumerate() {
                let square = Square::new((ROWS - 1 - row) * COLUMNS + column);
                let side = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
                match Kind::parse(letter) {
                    Some(kind) => board.put(square, side, kind),
                    None if letter == '.' => {}
                    None => return Err("a square holds one of KQRBNPkqrbnp, or '.'"),
                }
            }
        }
        if rows != ROWS {
            return Err("the board has six rows of five squares, with '/' between them");
        }
        board.check()
    }

    /// The board of these men, if it can be played on.
    pub(super) fn check(self) -> Result<Board, &'static str> {
        let kings = |side| (self.of(Kind::King) & self.side(side)).count_ones();
        if Color::BOTH.into_iter().any(|side| kings(side) > 1) {
            return Err("a side has more than one king");
        }
        let lost = |side| (FIRST_ROW << (last_row(side) * COLUMNS)) & self.side(side);
        if Color::BOTH.into_iter().any(|side| lost(side) & self.of(Kind::Pawn) != 0) {
            return Err("a pawn stands on the last row");
        }
        Ok(self)
    }

    pub(super) fn put(&mut self, square: Square, side: Color, kind: Kind) {
        self.kinds[kind as usize] |= square.bit();
        self.sides[side] |= square.bit();
    }

    pub(super) fn take(&mut self, square: Square, side: Color, kind: Kind) {
        self.kinds[kind as usize] &= !square.bit();
        self.sides[side] &= !square.bit();
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

    /// What stands there.
    #[inline]
    pub fn kind_at(&self, square: Square) -> Option<Kind> {
        if self.occupied() & square.bit() == 0 {
            return None;
        }
        Kind::ALL.into_iter().find(|kind| self.of(*kind) & square.bit() != 0)
    }

    /// Where the king of this side stands, if it still does.
    pub fn king(&self, side: Color) -> Option<Square> {
        Bits(self.of(Kind::King) & self.side(side)).next().map(Square::new)
    }

    /// The men of one side.
    pub fn men(&self, side: Color) -> impl Iterator<Item = (Square, Kind)> + '_ {
        Kind::ALL.into_iter().flat_map(move |kind| {
            Bits(self.of(kind) & self.side(side)).map(move |square| (Square::new(square), kind))
        })
    }

    /// All men.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Color, Kind)> + '_ {
        Color::BOTH
            .into_iter()
            .flat_map(|side| self.men(side).map(move |(square, kind)| (square, side, kind)))
    }

    /// What the first side has more than the second, by these values.
    pub(super) fn balance(&self, worth: fn(Kind) -> i32) -> i32 {
        let count = |side, kind| (self.of(kind) & self.side(side)).count_ones() as i32;
        Kind::ALL.iter().map(|&k| worth(k) * (count(Color::White, k) - count(Color::Black, k))).sum()
    }

    /// Where a man can go, captures of its own side included.
    #[inline]
    pub fn reach(&self, from: Square, kind: Kind, side: Color) -> u64 {
        let (at, occupied) = (from.index(), self.occupied());
        match kind {
            Kind::Pawn => PUSH[side as usize][at] & !occupied | PAWN[side as usize][at] & self.side(!side),
            Kind::Rook => slide(at, occupied, STRAIGHT),
            Kind::Knight => KNIGHT[at],
            Kind::Bishop => slide(at, occupied, DIAGONAL),
            Kind::Queen => slide(at, occupied, STRAIGHT) | slide(at, occupied, DIAGONAL),
            Kind::King => KING[at],
        }
    }

    /// Where this side's pawns go that stand one step before the last row.
    pub(super) fn reach_of_pawns_near_the_end(&self, side: Color) -> u64 {
        let pawns = self.of(Kind::Pawn) & self.side(side);
        let pushed = match side {
            Color::White => pawns << COLUMNS,
            Color::Black => pawns >> COLUMNS,
        };
        pushed & !self.occupied() & ALL
    }

    /// Can this side take what stands there?
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Color) -> bool {
        let (at, occupied, them) = (square.index(), self.occupied(), self.side(by));
        let (rooks, bishops) =
            (self.of(Kind::Rook) | self.of(Kind::Queen), self.of(Kind::Bishop) | self.of(Kind::Queen));
        // From here a man of the other side reaches those who reach here.
        PAWN[!by as usize][at] & self.of(Kind::Pawn) & them != 0
            || KNIGHT[at] & self.of(Kind::Knight) & them != 0
            || KING[at] & self.of(Kind::King) & them != 0
            || slide(at, occupied, STRAIGHT) & rooks & them != 0
            || slide(at, occupied, DIAGONAL) & bishops & them != 0
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..ROWS).rev() {
            for column in 0..COLUMNS {
                let square = Square::new(row * COLUMNS + column);
                let side =
                    if self.side(Color::White) & square.bit() != 0 { Color::White } else { Color::Black };
                fmt::Write::write_char(f, self.kind_at(square).map_or('.', |kind| kind.letter(side)))?;
            }
            if row > 0 {
                f.write_str("/")?;
            }
        }
        Ok(())
    }
}

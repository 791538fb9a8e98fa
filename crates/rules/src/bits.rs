//! Small boards: their squares, sets of them with one bit a square, and random keys for hashing.

/// A square of a small board, counted row by row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Square<const COLUMNS: usize, const SQUARES: usize>(u8);

impl<const COLUMNS: usize, const SQUARES: usize> Square<COLUMNS, SQUARES> {
    /// The square of this index; one beyond the board is brought back onto it.
    pub const fn new(index: usize) -> Self {
        Square((index % SQUARES) as u8)
    }

    /// The square in this row and column; `None` beside the board.
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

    /// The set of it alone.
    pub(super) const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// The squares of a set, lowest first.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bits(pub u64);

impl Iterator for Bits {
    type Item = usize;
    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let square = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(square)
    }
}

/// The square of a set with so many below it; the set has more.
pub(super) const fn nth(mut set: u64, below: usize) -> usize {
    let mut left = below;
    while left > 0 {
        set &= set - 1;
        left -= 1;
    }
    set.trailing_zeros() as usize
}

/// A well mixed word for each index: SplitMix64 (Steele, Lea and Flood), so that keys are the same in every run.
pub(super) const fn mixed(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A set for each square: where one reaches by these steps of (row, column) on a board of this size.
pub(super) const fn steps<const SQUARES: usize>(columns: i32, steps: &[(i32, i32)]) -> [u64; SQUARES] {
    let mut sets = [0; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let (row, column) = (square as i32 / columns, square as i32 % columns);
        let mut step = 0;
        while step < steps.len() {
            let (to_row, to_column) = (row + steps[step].0, column + steps[step].1);
            let to = to_row * columns + to_column;
            if to_column >= 0 && to_column < columns && to >= 0 && to < SQUARES as i32 {
                sets[square] |= 1 << to;
            }
            step += 1;
        }
        square += 1;
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_on_the_board() {
        const KNIGHT: [u64; 30] =
            steps(5, &[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
        assert_eq!(Bits(KNIGHT[0]).collect::<Vec<_>>(), [7, 11]);
        assert_eq!(Bits(KNIGHT[29]).collect::<Vec<_>>(), [18, 22]);
        assert_eq!(KNIGHT[12].count_ones(), 8 - 2 + 2);
    }

    #[test]
    fn the_nth_square_of_a_set() {
        let set = 1 << 3 | 1 << 17 | 1 << 34;
        assert_eq!([0, 1, 2].map(|below| nth(set, below)), [3, 17, 34]);
    }
}

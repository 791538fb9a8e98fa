//! Tables of squares that a piece reaches, computed when the program is compiled.

/// One step along a row or a column.
pub(crate) const ORTHOGONAL: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

/// The directions of lines as (rows, columns): first those in which the index of the square grows, then their
/// opposites.
const DIRECTIONS: [(i32, i32); 8] = [(1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)];

/// Lines of a slider, as indices of [`DIRECTIONS`]: those with growing indices of squares, then the others.
pub(super) type Lines = ([usize; 2], [usize; 2]);
pub(super) const STRAIGHT: Lines = ([0, 1], [4, 5]);
pub(super) const DIAGONAL: Lines = ([2, 3], [6, 7]);

/// For each square, those that these steps of (rows, columns) lead to.
pub(crate) const fn steps<const COLUMNS: usize, const SQUARES: usize>(
    steps: &[(i32, i32)],
) -> [u64; SQUARES] {
    let columns = COLUMNS as i32;
    let mut sets = [0; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let row = square as i32 / columns;
        let column = square as i32 % columns;
        let mut step = 0;
        while step < steps.len() {
            let to_row = row + steps[step].0;
            let to_column = column + steps[step].1;
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

/// For each direction and square, the squares up to `range` steps away.
pub(super) const fn rays<const COLUMNS: usize, const SQUARES: usize>(range: usize) -> [[u64; SQUARES]; 8] {
    let mut rays = [[0; SQUARES]; 8];
    let mut direction = 0;
    while direction < 8 {
        let one = steps::<COLUMNS, SQUARES>(&[DIRECTIONS[direction]]);
        let mut square = 0;
        while square < SQUARES {
            let mut at = square;
            let mut step = 0;
            while step < range && one[at] != 0 {
                rays[direction][square] |= one[at];
                at = one[at].trailing_zeros() as usize;
                step += 1;
            }
            square += 1;
        }
        direction += 1;
    }
    rays
}

/// The squares that a slider reaches: along each line up to the first blocker, that one included.
#[inline]
pub(super) fn slide<const SQUARES: usize>(
    rays: &[[u64; SQUARES]; 8],
    from: usize,
    blockers: u64,
    (upward, downward): Lines,
) -> u64 {
    let mut reach = 0;
    for ray in upward {
        let ray = &rays[ray];
        let blocked = ray[from] & blockers;
        reach |= match blocked {
            0 => ray[from],
            _ => ray[from] & !ray[blocked.trailing_zeros() as usize],
        };
    }
    for ray in downward {
        let ray = &rays[ray];
        let blocked = ray[from] & blockers;
        reach |= match blocked {
            0 => ray[from],
            _ => ray[from] & !ray[63 - blocked.leading_zeros() as usize],
        };
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::Bits;

    #[test]
    fn steps_stay_on_the_board() {
        const KNIGHT: [u64; 30] =
            steps::<5, 30>(&[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
        assert_eq!(Bits(KNIGHT[0]).collect::<Vec<_>>(), [7, 11]);
        assert_eq!(Bits(KNIGHT[29]).collect::<Vec<_>>(), [18, 22]);
        assert_eq!(KNIGHT[12].count_ones(), 8 - 2 + 2);
    }

    #[test]
    fn a_slider_stops_at_its_range_and_at_the_first_blocker() {
        const RAYS: [[u64; 35]; 8] = rays::<5, 35>(3);
        let reach = |from, blockers| Bits(slide(&RAYS, from, blockers, STRAIGHT)).collect::<Vec<_>>();
        assert_eq!(reach(0, 0), [1, 2, 3, 5, 10, 15]);
        assert_eq!(reach(0, 1 << 2 | 1 << 5), [1, 2, 5]);
    }
}

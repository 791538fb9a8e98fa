//! Sets of squares in a word, and random words for hashing.

/// The squares of a set, lowest first.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Bits(pub u64);

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

/// The `index`th square of a set, which has more than `index`.
pub(super) const fn nth(mut set: u64, index: usize) -> usize {
    let mut left = index;
    while left > 0 {
        set &= set - 1;
        left -= 1;
    }
    set.trailing_zeros() as usize
}

/// SplitMix64 (Steele, Lea and Flood): a well mixed word for each index, the same in every run.
pub(crate) const fn mix(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_square_of_a_set() {
        let set = 1 << 3 | 1 << 17 | 1 << 34;
        assert_eq!([0, 1, 2].map(|index| nth(set, index)), [3, 17, 34]);
        assert_eq!(Bits(set).collect::<Vec<_>>(), [3, 17, 34]);
    }
}

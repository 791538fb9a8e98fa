//! Middlegame and endgame scores packed into one word.
//!
//! Source: Chess Programming Wiki, "Tapered Eval"; the packing as in Stockfish.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Middlegame and endgame centipawns of 16 bits each, added in one addition.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaperedScore(i32);

/// Shorthand for tables of weights.
pub(crate) const fn s(middlegame: i16, endgame: i16) -> TaperedScore {
    TaperedScore((endgame as i32) << 16).plus(TaperedScore(middlegame as i32))
}

impl TaperedScore {
    pub(crate) const ZERO: TaperedScore = TaperedScore(0);

    pub(crate) const fn middlegame(self) -> i32 {
        self.0 as i16 as i32
    }

    /// Endgame score; a negative middlegame score has borrowed one from it.
    pub(crate) const fn endgame(self) -> i32 {
        (self.0.wrapping_add(0x8000) >> 16) as i16 as i32
    }

    /// Sum in constants, where `+` is not allowed.
    pub(crate) const fn plus(self, other: TaperedScore) -> TaperedScore {
        TaperedScore(self.0.wrapping_add(other.0))
    }
}

impl Add for TaperedScore {
    type Output = TaperedScore;
    fn add(self, other: TaperedScore) -> TaperedScore {
        self.plus(other)
    }
}

impl Sub for TaperedScore {
    type Output = TaperedScore;
    fn sub(self, other: TaperedScore) -> TaperedScore {
        TaperedScore(self.0.wrapping_sub(other.0))
    }
}

impl Mul<i32> for TaperedScore {
    type Output = TaperedScore;
    fn mul(self, times: i32) -> TaperedScore {
        TaperedScore(self.0.wrapping_mul(times))
    }
}

impl AddAssign for TaperedScore {
    fn add_assign(&mut self, other: TaperedScore) {
        *self = *self + other;
    }
}

impl SubAssign for TaperedScore {
    fn sub_assign(&mut self, other: TaperedScore) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_numbers_are_added_and_multiplied_apart(a in -900i16..900, b in -900i16..900, c in -900i16..900, d in -900i16..900, times in -16i32..16) {
            let sum = (s(a, b) + s(c, d)) * times;
            prop_assert_eq!(sum.middlegame(), i32::from(a + c) * times);
            prop_assert_eq!(sum.endgame(), i32::from(b + d) * times);
            let difference = s(a, b) - s(c, d);
            prop_assert_eq!((difference.middlegame(), difference.endgame()), (i32::from(a - c), i32::from(b - d)));
        }
    }
}

//! Centipawns as values from -1 to 1, and back.

use crate::Score;

/// An advantage of so many centipawns is worth tanh(1), about three quarters of a win.
const UNIT: f32 = 330.0;
/// Beyond so many centipawns all is the same.
pub(super) const MOST: i32 = 3000;

/// What an evaluation is worth.
pub(super) fn value(cp: i32) -> f32 {
    (cp as f32 / UNIT).tanh()
}

/// What a value is in centipawns.
pub(super) fn score(value: f32) -> Score {
    Score::cp(((value.atanh() * UNIT) as i32).clamp(-MOST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for cp in [-900, -50, 0, 7, 300, 1000] {
            assert!((score(value(cp)).get() - cp).abs() <= 1 + cp.abs() / 50, "{cp}");
        }
        assert_eq!((score(1.0), score(-1.0)), (Score::cp(MOST), Score::cp(-MOST)));
    }
}

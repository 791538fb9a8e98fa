//! Conversion between centipawns and values from -1 to 1.

use crate::Score;

/// Centipawns that are worth tanh(1), about three quarters of a win; hand-picked.
const CP_SCALE: f32 = 330.0;
pub(super) const MAX_CP: i32 = 3000;

pub(super) fn from_cp(cp: i32) -> f32 {
    (cp as f32 / CP_SCALE).tanh()
}

pub(super) fn to_score(value: f32) -> Score {
    Score::cp(((value.atanh() * CP_SCALE) as i32).clamp(-MAX_CP, MAX_CP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for cp in [-900, -50, 0, 7, 300, 1000] {
            assert!((to_score(from_cp(cp)).get() - cp).abs() <= 1 + cp.abs() / 50, "{cp}");
        }
        assert_eq!((to_score(1.0), to_score(-1.0)), (Score::cp(MAX_CP), Score::cp(-MAX_CP)));
    }
}

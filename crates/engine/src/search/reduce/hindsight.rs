//! Hindsight: a reduced move is searched deeper where its reply finds that it was no mistake, and less deeply where the
//! evaluations before and after it say that nothing happens.
//!
//! Source: as in Stockfish.

use crate::{Score, search::tunable::tunables};

tunables! {
    /// The search of a move that was reduced by so many plies is made good where the opponent stands no worse.
    DEEPER_FROM = HindsightDeeper: 3, 1..=8;
    /// One reduced by so many plies loses another where both evaluations together are above the margin.
    SHALLOWER_FROM = HindsightShallower: 2, 1..=8;
    MARGIN = HindsightMargin: 200, 0..=600;
}

/// Plies by which a node is searched deeper (above zero) or less deeply, by the reduction of the move that led to it and
/// the static evaluations, each for the side to move, before and after the move.
pub(crate) fn plies(reduction: i32, before: Score, after: Score) -> i32 {
    let gain = before.get() + after.get();
    let deeper = reduction >= DEEPER_FROM.get() && gain <= 0;
    let shallower = reduction >= SHALLOWER_FROM.get() && gain > MARGIN.get();
    i32::from(deeper) - i32::from(shallower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_reduced_move_changed_counts() {
        let plies = |reduction, before, after| plies(reduction, Score::cp(before), Score::cp(after));
        assert_eq!(plies(3, -50, 40), 1);
        assert_eq!(plies(2, -50, 40), 0);
        assert_eq!(plies(2, 150, 60), -1);
        assert_eq!(plies(1, 150, 60), 0);
        assert_eq!(plies(3, 50, 40), 0);
    }
}

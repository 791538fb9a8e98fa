//! Hindsight: a move whose search was reduced is searched deeper if it turns out not to worsen its side's evaluation, and
//! still less deeply if it clearly does.
//!
//! Source: as in Stockfish.

use crate::{Score, search::tunable::tunables};

tunables! {
    /// Only a search that was reduced by this many plies is made deeper.
    DEEPER_FROM = HindsightDeeper: 3, 1..=8;
    /// Only a search that was reduced by this many plies is reduced further.
    SHALLOWER_FROM = HindsightShallower: 2, 1..=8;
    /// A move that costs its side more centipawns than this clearly worsens its evaluation.
    MARGIN = HindsightMargin: 200, 0..=600;
}

/// Plies by which a node is searched deeper (above zero) or less deeply, by the reduction of the move that led to it and
/// the static evaluations, each for the side to move, before and after the move.
pub(crate) fn plies(reduction: i32, before: Score, after: Score) -> i32 {
    let loss = before.get() + after.get();
    let deeper = reduction >= DEEPER_FROM.get() && loss <= 0;
    let shallower = reduction >= SHALLOWER_FROM.get() && loss > MARGIN.get();
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

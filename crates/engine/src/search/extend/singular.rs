//! Singular extensions: where the table's move is better than all others, it is searched deeper; where the others are good
//! enough to fail high as well, the node is cut, or the move searched less deeply.
//!
//! Sources: Chess Programming Wiki, "Singular Extensions" and "Multi-Cut"; double and negative extensions as in Stockfish.

use std::ops::ControlFlow;

use super::may_grow;
use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Window, Worker, tunable::tunables},
    transposition_table::{Bound, Entry},
};

tunables! {
    MIN_DEPTH = SingularDepth: 6, 4..=16;
    /// The other moves must stay this far below the table's score, in tenths of a centipawn for each ply of depth.
    MARGIN = SingularMargin: 13, 1..=100;
    /// A move that is better by this many centipawns more is extended by two plies.
    DOUBLE_MARGIN = SingularDoubleMargin: 20, 0..=200;
}

/// The table's entry may be this much shallower than the node.
const ENTRY_DEPTH_MARGIN: i32 = 3;
/// A line is extended by two plies at most this many times.
const MAX_DOUBLES: usize = 6;

/// Returns by how many plies the table's move is extended; breaks with the score of a node that is cut.
pub(crate) fn plies<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<ControlFlow<Score, i32>, Stopped> {
    const NONE: ControlFlow<Score, i32> = ControlFlow::Continue(0);
    let may_grow = may_grow(node.ply, worker.iteration);
    if K::ROOT || node.tt_move.is_none() || node.depth < MIN_DEPTH.get() || !may_grow {
        return Ok(NONE);
    }
    let Some(tt_score) = node.entry.and_then(|entry| trusted_score(&entry, node.depth, node.ply)) else {
        return Ok(NONE);
    };
    let goal = tt_score.offset(-(MARGIN.get() * node.depth / 10));
    let window = Window { alpha: goal.below(), beta: goal };
    let others = Node { window, depth: (node.depth - 1) / 2, without_tt_move: true, ..*node };
    let score = worker.search_moves::<NonPvNode>(others, state)?;
    let plies = if score < goal {
        let doubles = !K::PV && score < goal.offset(-DOUBLE_MARGIN.get());
        1 + i32::from(doubles && worker.double_extensions(node.ply) < MAX_DOUBLES)
    } else if !K::PV && goal >= node.window.beta {
        return Ok(ControlFlow::Break(goal));
    } else {
        -i32::from(tt_score >= node.window.beta)
    };
    Ok(ControlFlow::Continue(plies))
}

/// The score of an entry that is deep enough, and says that its move is good.
fn trusted_score(entry: &Entry, depth: i32, ply: u16) -> Option<Score> {
    let is_deep = i32::from(entry.depth) >= depth - ENTRY_DEPTH_MARGIN;
    let score = entry.score.to_root(ply);
    (is_deep && entry.bound != Bound::Upper && !score.is_decisive()).then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::Packed;

    #[test]
    fn only_a_deep_bound_from_below_is_trusted() {
        let entry = |score, depth, bound| Entry { mv: Packed(1), score, eval: Score::ZERO, depth, bound };
        let trusted = |entry: Entry| trusted_score(&entry, 8, 3);
        let good = Score::cp(40);
        assert_eq!(trusted(entry(good, 5, Bound::Lower)), Some(good));
        assert_eq!(trusted(entry(good, 5, Bound::Exact)), Some(good));
        assert_eq!(trusted(entry(good, 4, Bound::Lower)), None);
        assert_eq!(trusted(entry(good, 9, Bound::Upper)), None);
        assert_eq!(trusted(entry(Score::mate_in(4), 9, Bound::Lower)), None);
    }
}

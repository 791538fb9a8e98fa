//! Late move pruning: near the leaves, quiet moves after the first few are skipped.
//!
//! Source: Chess Programming Wiki, "Futility Pruning", under "Move Count Based Pruning".

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType, tunable::tunables};

tunables! {
    MAX_DEPTH = LateMovePruningDepth: 6, 1..=16;
    /// Moves searched at least: `(BASE_COUNT + depth²)`, half of that where the evaluation does not improve.
    BASE_COUNT = LateMovePruningBase: 4, 0..=20;
}

pub(crate) fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH.get()) || !candidate.quiet {
        return false;
    }
    let enough = (BASE_COUNT.get() + node.depth * node.depth) / if node.improving { 1 } else { 2 };
    candidate.index as i32 > enough && !node.position.gives_check(candidate.mv)
}

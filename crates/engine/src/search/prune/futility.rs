//! Futility pruning: near the leaves and far below alpha, quiet moves that give no check are skipped.
//!
//! Source: Chess Programming Wiki, "Futility Pruning".

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType, tunable::tunables};

tunables! {
    MAX_DEPTH = FutilityDepth: 6, 1..=16;
    /// Margin below alpha in centipawns: `BASE_MARGIN + DEPTH_MARGIN · depth`.
    BASE_MARGIN = FutilityBase: 100, 0..=400;
    DEPTH_MARGIN = FutilityMargin: 80, 10..=300;
}

pub(crate) fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH.get()) || !candidate.quiet {
        return false;
    }
    node.eval.offset(BASE_MARGIN.get() + DEPTH_MARGIN.get() * node.depth) <= node.window.alpha
        && !node.position.gives_check(candidate.mv)
}

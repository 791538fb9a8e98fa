//! Futility pruning: near the leaves and far below alpha, quiet moves that give no check are skipped.
//!
//! Source: Chess Programming Wiki, "Futility Pruning".

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MAX_DEPTH: i32 = 6;
/// Margin below alpha in centipawns: `BASE_MARGIN + DEPTH_MARGIN · depth`.
const BASE_MARGIN: i32 = 100;
const DEPTH_MARGIN: i32 = 80;

pub(crate) fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH) || !candidate.quiet {
        return false;
    }
    node.eval.offset(BASE_MARGIN + DEPTH_MARGIN * node.depth) <= node.window.alpha
        && !node.position.gives_check(candidate.mv)
}

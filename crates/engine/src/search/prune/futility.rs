//! Futility pruning: near the leaves and far below alpha, a quiet move will not bring the score back.
//!
//! Source: Chess Programming Wiki, "Futility Pruning".

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MAX_DEPTH: i32 = 6;
const BASE: i32 = 100;
const MARGIN: i32 = 80;

/// Is this move not worth a look?
pub fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH) || !candidate.quiet {
        return false;
    }
    node.eval.offset(BASE + MARGIN * node.depth) <= node.window.alpha
        && !node.position.gives_check(candidate.mv)
}

//! Late-move pruning: after enough moves near the leaves, the quiet ones that are left are passed over.
//!
//! Source: Chess Programming Wiki, "Futility Pruning", under "Move Count Based Pruning".

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MAX_DEPTH: i32 = 6;

/// Is this move not worth a look?
pub fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH) || !candidate.quiet {
        return false;
    }
    let enough = (4 + node.depth * node.depth) / if node.improving { 1 } else { 2 };
    candidate.index as i32 > enough && !node.position.gives_check(candidate.mv)
}

//! SEE pruning: near the leaves, moves that lose material by static exchange evaluation are skipped.
//!
//! Source: Chess Programming Wiki, "Static Exchange Evaluation", under pruning.

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MAX_DEPTH: i32 = 6;
/// Material a move may lose for each ply of depth, in centipawns.
const QUIET_MARGIN: i32 = -50;
const NOISY_MARGIN: i32 = -90;

pub(crate) fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH) {
        return false;
    }
    let margin = if candidate.quiet { QUIET_MARGIN } else { NOISY_MARGIN } * node.depth;
    !node.position.see_ge(candidate.mv, margin)
}

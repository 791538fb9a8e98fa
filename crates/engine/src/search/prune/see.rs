//! SEE pruning: near the leaves, moves that lose material by static exchange evaluation are skipped.
//!
//! Source: Chess Programming Wiki, "Static Exchange Evaluation", under pruning.

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType, tunable::tunables};

tunables! {
    MAX_DEPTH = SeePruningDepth: 6, 1..=16;
    /// Material a move may lose for each ply of depth, in centipawns.
    QUIET_MARGIN = SeeQuietMargin: 50, 0..=250;
    NOISY_MARGIN = SeeNoisyMargin: 90, 0..=300;
}

pub(crate) fn skips<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>) -> bool {
    if !node.is_prunable::<K>(MAX_DEPTH.get()) {
        return false;
    }
    let margin = if candidate.quiet { QUIET_MARGIN.get() } else { NOISY_MARGIN.get() } * node.depth;
    !node.position.see_ge(candidate.mv, -margin)
}

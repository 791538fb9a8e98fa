//! Alpha-beta: minimax without the lines that cannot change its value.
//!
//! One side is sure of alpha already, the other of beta. As soon as a move gets beta or more, the other side
//! will not let it come to this position, and the rest of the moves need no look. What is returned is exact
//! between the two, else a bound, as tight as it is known ("fail-soft", which MTD(f) and the table gain by).
//! Source: Knuth and Moore, "An analysis of alpha-beta pruning"; Chess Programming Wiki, "Alpha-Beta".

use super::{
    ordering,
    tree_search::{Arrival, Found, Node, TreeSearch},
};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    pub(super) fn alpha_beta(
        &mut self,
        node: &Node<G>,
        alpha: Score,
        beta: Score,
    ) -> Result<Found<G::Move>, Stopped> {
        let mut moves = match self.arrive(node)? {
            Arrival::Over(score) => return Ok(score.into()),
            Arrival::Open(moves) => moves,
        };
        if node.depth == 0 {
            return Ok(self.leaf(node, moves, alpha, beta)?.into());
        }
        let known = self.recall(node);
        if let Some(score) = known.and_then(|entry| entry.settles(node, alpha, beta)) {
            return Ok(score.into());
        }
        if self.options.order {
            let first = known.and_then(|entry| node.position.unpack(entry.mv));
            ordering::order(&node.position, &mut moves, first);
        }
        let singular = self.prune(node, &mut moves)?;

        let mut best = Found::from(Score::NEG_INFINITE);
        for mv in moves {
            let mut child = self.child(node, mv);
            if singular == Some(mv) {
                child.depth += 1;
            }
            let score = -self.alpha_beta(&child, -beta, -alpha.max(best.score))?.score;
            if score > best.score {
                best = Found { score, mv: Some(mv) };
            }
            if score >= beta {
                break;
            }
        }
        self.remember(node, best, alpha, beta);
        Ok(best)
    }
}

//! Quiescence: at the leaves captures are played out, so that nothing is judged in the middle of an exchange.
//!
//! Nobody has to capture: who stands well enough stays as he stands. In check that is no choice, and every
//! move counts. Source: Chess Programming Wiki, "Quiescence Search".

use zeitnot_rules::Moves;

use super::{
    ordering,
    tree_search::{Node, TreeSearch},
};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    /// The value of a leaf with these legal moves. Those behind it are leaves as well, so alpha-beta leads
    /// back here.
    pub(super) fn quiesce(
        &mut self,
        node: &Node<G>,
        moves: Moves<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Result<Score, Stopped> {
        let check = node.position.is_check();
        let mut best = if check { Score::NEG_INFINITE } else { self.look(node) };
        if best >= beta {
            return Ok(best);
        }
        let mut moves = if check { moves } else { node.position.noisy_moves() };
        if self.options.order {
            ordering::order(&node.position, &mut moves, None);
        }
        for mv in moves {
            let child = self.child(node, mv);
            best = best.max(-self.alpha_beta(&child, -beta, -alpha.max(best))?.score);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }
}

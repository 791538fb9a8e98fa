//! Quiescence search: captures are played out at the leaves, all evasions in check.
//!
//! Out of check, the static evaluation is a lower bound ("stand pat").
//!
//! Source: Chess Programming Wiki, "Quiescence Search".

use zeitnot_rules::Moves;

use super::{
    ordering,
    tree_search::{Node, TreeSearch},
};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    /// Value of a leaf with these legal moves. Its children are leaves too, so alpha-beta leads back here.
    pub(super) fn quiesce(
        &mut self,
        node: &Node<G>,
        moves: Moves<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Result<Score, Stopped> {
        let check = node.position.is_check();
        let mut best = if check { Score::NEG_INFINITE } else { self.static_eval(node) };
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

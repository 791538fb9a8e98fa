//! Quiescence search: captures are played out at the leaves, all evasions in check, and optionally checks.
//!
//! Out of check, the static evaluation is a lower bound ("stand pat").
//!
//! Source: Chess Programming Wiki, "Quiescence Search".

use zeitnot_rules::Moves;

use super::tree_search::{Node, TreeSearch};
use crate::{EngineGame, Score, Stopped};

/// Moves of the quiescence search out of check.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Quiescence {
    /// Captures and promotions.
    Captures,
    /// Checks as well, at the first ply only: a series of checks may never end.
    CapturesAndChecks,
}

impl<G: EngineGame> TreeSearch<'_, G> {
    /// Value of a leaf with these legal moves. Its children are leaves too, so alpha-beta leads back here.
    pub(super) fn quiesce(
        &mut self,
        node: &Node<G>,
        quiescence: Quiescence,
        mut moves: Moves<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Result<Score, Stopped> {
        let check = node.position.is_check();
        let mut best = if check { Score::NEG_INFINITE } else { self.static_eval(node) };
        if best >= beta {
            return Ok(best);
        }
        if !check {
            let position = &node.position;
            if quiescence == Quiescence::CapturesAndChecks && node.beyond == 0 {
                moves.retain(|mv| position.is_noisy(*mv) || position.gives_check(*mv));
            } else {
                moves = position.noisy_moves();
            }
        }
        if let Some(order) = self.options.order {
            order.sort(&node.position, &mut moves, None);
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

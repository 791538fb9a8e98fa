//! MTD(f): alpha-beta asked again and again whether the value reaches a point, until it is between two.
//!
//! Each answer is a bound, on one side or the other. The first question is what the iteration before has
//! found; the table makes the later ones cheap. Source: Plaat and others, "Best-first fixed-depth minimax
//! algorithms"; Chess Programming Wiki, "MTD(f)".

use super::tree_search::{Found, Node, TreeSearch};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    pub(super) fn mtd_f(&mut self, root: &Node<G>, guess: Score) -> Result<Found<G::Move>, Stopped> {
        let (mut least, mut most) = (Score::NEG_INFINITE, Score::INFINITE);
        let mut best = Found::from(guess);
        while least < most {
            let beta = if best.score == least { best.score.above() } else { best.score };
            let found = self.alpha_beta(root, beta.below(), beta)?;
            best.score = found.score;
            if found.score >= beta {
                // Only a move that reaches the point is known to be good.
                (least, best.mv) = (found.score, found.mv);
            } else {
                most = found.score;
            }
        }
        Ok(best)
    }
}

//! MTD(f): null-window searches that narrow the bounds of the value until they meet.
//!
//! The first guess is the value of the previous iteration; the table makes repeated searches cheap.
//!
//! Sources: Plaat et al., "Best-first fixed-depth minimax algorithms" (1996); Chess Programming Wiki, "MTD(f)".

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
                // Only a search that fails high proves its move.
                (least, best.mv) = (found.score, found.mv);
            } else {
                most = found.score;
            }
        }
        Ok(best)
    }
}

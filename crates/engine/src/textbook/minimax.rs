//! Minimax: each side takes the move that is best for it, and every line is looked at.
//!
//! In the negamax form: a position is worth to the side to move what the best of its moves leaves to the
//! other side, with the sign changed. Source: Chess Programming Wiki, "Minimax" and "Negamax".

use super::tree_search::{Arrival, Found, Node, TreeSearch};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    pub(super) fn minimax(&mut self, node: &Node<G>) -> Result<Found<G::Move>, Stopped> {
        let moves = match self.arrive(node)? {
            Arrival::Over(score) => return Ok(score.into()),
            Arrival::Open(moves) => moves,
        };
        if node.depth == 0 {
            return Ok(self.leaf(node, moves, Score::NEG_INFINITE, Score::INFINITE)?.into());
        }
        let mut best = Found::from(Score::NEG_INFINITE);
        for mv in moves {
            let score = -self.minimax(&self.child(node, mv))?.score;
            if score > best.score {
                best = Found { score, mv: Some(mv) };
            }
        }
        Ok(best)
    }
}

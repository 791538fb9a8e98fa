//! Minimax in its negamax form: the value of a position is the maximum of its children's negated values.
//!
//! Source: Chess Programming Wiki, "Minimax" and "Negamax".

use super::tree_search::{Found, Node, TreeSearch, Visit};
use crate::{EngineGame, Score, Stopped};

impl<G: EngineGame> TreeSearch<'_, G> {
    pub(super) fn minimax(&mut self, node: &Node<G>) -> Result<Found<G::Move>, Stopped> {
        let moves = match self.visit(node)? {
            Visit::Terminal(score) => return Ok(score.into()),
            Visit::Moves(moves) => moves,
        };
        if node.depth == 0 {
            return Ok(self.leaf(node, moves, Score::NEG_INFINITE, Score::INFINITE)?.into());
        }
        let mut best = Found::from(Score::NEG_INFINITE);
        for mv in moves {
            let child = self.child(node, mv);
            let score = -self.minimax(&child)?.score;
            if score > best.score {
                best = Found { score, mv: Some(mv) };
            }
        }
        Ok(best)
    }
}

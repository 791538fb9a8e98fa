//! Alpha-beta: minimax without the lines that cannot change its value.
//!
//! A move that reaches beta refutes the position, and the remaining moves are skipped. The search is fail-soft:
//! scores outside the window are bounds, as tight as known, which helps MTD(f) and the table.
//!
//! Sources: Knuth and Moore, "An analysis of alpha-beta pruning" (1975); Chess Programming Wiki, "Alpha-Beta".

use zeitnot_rules::Packed;

use super::{
    table::{self, Entry},
    tree_search::{Found, Node, TreeSearch, Visit},
};
use crate::{EngineGame, Score, Stopped, transposition_table::Bound};

impl<G: EngineGame> TreeSearch<'_, G> {
    pub(super) fn alpha_beta(
        &mut self,
        node: &Node<G>,
        alpha: Score,
        beta: Score,
    ) -> Result<Found<G::Move>, Stopped> {
        let mut moves = match self.visit(node)? {
            Visit::Terminal(score) => return Ok(score.into()),
            Visit::Moves(moves) => moves,
        };
        if node.depth == 0 {
            return Ok(self.leaf(node, moves, alpha, beta)?.into());
        }
        let known = self.probe(node);
        if let Some(score) = known.and_then(|entry| cutoff_score(&entry, node, alpha, beta)) {
            return Ok(score.into());
        }
        if let Some(order) = self.options.order {
            let first = known.and_then(|entry| node.position.unpack(entry.mv));
            order.sort(&node.position, &mut moves, first);
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
        self.store(node, best, alpha, beta);
        Ok(best)
    }

    /// Returns the entry of a position, at any depth.
    fn probe(&self, node: &Node<G>) -> Option<Entry> {
        self.table.as_ref()?.probe(table::key(&node.position))
    }

    fn store(&mut self, node: &Node<G>, found: Found<G::Move>, alpha: Score, beta: Score) {
        // The best of some moves says nothing about the position.
        if node.ply == 0 && self.is_restricted() {
            return;
        }
        let Some(table) = &mut self.table else { return };
        let bound = Bound::of(found.score, alpha, beta);
        let mv = found.mv.map_or(Packed::NONE, |mv| node.position.pack(mv));
        let score = found.score.to_tt(node.ply);
        table.store(Entry { key: table::key(&node.position), mv, score, depth: node.depth, bound });
    }
}

/// Returns the stored score if it cuts off the search of a node. The root must find a move.
fn cutoff_score<G: EngineGame>(entry: &Entry, node: &Node<G>, alpha: Score, beta: Score) -> Option<Score> {
    let score = entry.score.to_root(node.ply);
    let fits = entry.bound.cuts_off(score, alpha, beta);
    (entry.depth == node.depth && node.ply > 0 && fits).then_some(score)
}

//! A simple transposition table: one entry a slot, always replaced.
//!
//! Entries of another depth only give their move, so that values stay those of minimax.
//!
//! Source: Chess Programming Wiki, "Transposition Table".

use zeitnot_rules::{Game, Key, Packed};

use super::tree_search::{Found, Node, TreeSearch};
use crate::{EngineGame, Score, transposition_table::Bound};

/// Number of slots, about four MiB.
const SLOTS: usize = 1 << 18;

/// Reversible plies from which on the fifty-move rule may apply within [`super::MAX_DEPTH`] plies, so that the
/// count becomes part of the key.
const FIFTY_MOVE_HORIZON: u32 = 50;

/// Transposition table, see the module documentation.
pub(super) struct SimpleTable(Box<[Option<Entry>]>);

/// Result of a searched position.
#[derive(Copy, Clone)]
pub(super) struct Entry {
    key: Key,
    /// Best move.
    pub mv: Packed,
    /// Score relative to the position, not to the root.
    score: Score,
    depth: u16,
    bound: Bound,
}

impl Entry {
    /// Returns the stored score if it cuts off the search of a node. The root must find a move.
    pub fn cutoff_score<G: EngineGame>(&self, node: &Node<G>, alpha: Score, beta: Score) -> Option<Score> {
        let score = self.score.from_tt(node.ply);
        let fits = match self.bound {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        };
        (self.depth == node.depth && node.ply > 0 && fits).then_some(score)
    }
}

impl SimpleTable {
    pub fn new() -> Self {
        SimpleTable(vec![None; SLOTS].into_boxed_slice())
    }

    pub fn clear(&mut self) {
        self.0.fill(None);
    }

    /// Fill level in permille, from a sample.
    pub fn hashfull(&self) -> u16 {
        self.0.iter().take(1000).flatten().count() as u16
    }

    fn slot(key: Key) -> usize {
        key.0 as usize % SLOTS
    }
}

/// Key that includes the fifty-move counter where it matters.
fn key<G: Game>(position: &G) -> Key {
    let Key(key) = position.key();
    match position.reversible_plies() {
        plies if plies < FIFTY_MOVE_HORIZON => Key(key),
        // Fibonacci hashing spreads the counter over all bits.
        plies => Key(key ^ u64::from(plies).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    }
}

impl<G: EngineGame> TreeSearch<'_, G> {
    /// Returns the entry of a position, at any depth.
    pub(super) fn probe(&self, node: &Node<G>) -> Option<Entry> {
        let table = self.table.as_ref()?;
        let key = key(&node.position);
        table.0[SimpleTable::slot(key)].filter(|entry| entry.key == key)
    }

    /// Stores the result of a node searched with this window.
    pub(super) fn store(&mut self, node: &Node<G>, found: Found<G::Move>, alpha: Score, beta: Score) {
        // The best of some moves says nothing about the position.
        if node.ply == 0 && self.is_restricted() {
            return;
        }
        let Some(table) = &mut self.table else { return };
        let key = key(&node.position);
        let bound = match found.score {
            score if score >= beta => Bound::Lower,
            score if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        let mv = found.mv.map_or(Packed::NONE, |mv| node.position.pack(mv));
        let score = found.score.to_tt(node.ply);
        table.0[SimpleTable::slot(key)] = Some(Entry { key, mv, score, depth: node.depth, bound });
    }
}

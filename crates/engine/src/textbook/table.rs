//! The transposition table, as simple as it can be: one entry a slot, and the last one stays.
//!
//! What is found at another depth is not used, but for its move: it would be as good or better, but not
//! minimax's value. Source: Chess Programming Wiki, "Transposition Table".

use zeitnot_rules::{Game, Key, Packed};

use super::tree_search::{Found, Node, TreeSearch};
use crate::{EngineGame, Score, transposition_table::Bound};

/// Four MiB.
const SLOTS: usize = 1 << 18;

/// A key does not tell how long a game has gone without progress, which ends it some day. From here on that
/// day may lie within [`super::MAX_DEPTH`] plies, and positions that differ in it are different ones.
const LONG_WITHOUT_PROGRESS: u32 = 50;

/// See the module's comment.
pub(super) struct SimpleTable(Box<[Option<Entry>]>);

/// What was found out about a position.
#[derive(Copy, Clone)]
pub(super) struct Entry {
    key: Key,
    /// The best move.
    pub mv: Packed,
    /// A mate counts from the position, not from the root: the way there may have been longer.
    score: Score,
    depth: u16,
    bound: Bound,
}

impl Entry {
    /// The stored score, if it is what a search of this node would find. The root has to find a move.
    pub fn settles<G: EngineGame>(&self, node: &Node<G>, alpha: Score, beta: Score) -> Option<Score> {
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

    /// How full it is, in thousandths, from a sample.
    pub fn fullness(&self) -> u16 {
        self.0.iter().take(1000).flatten().count() as u16
    }

    fn slot(key: Key) -> usize {
        key.0 as usize % SLOTS
    }
}

/// Equal where what follows is equal.
fn key<G: Game>(position: &G) -> Key {
    let Key(key) = position.key();
    match position.reversible_plies() {
        plies if plies < LONG_WITHOUT_PROGRESS => Key(key),
        // Spread over all bits by the golden ratio.
        plies => Key(key ^ u64::from(plies).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    }
}

impl<G: EngineGame> TreeSearch<'_, G> {
    /// What is known of a position, at whatever depth.
    pub(super) fn recall(&self, node: &Node<G>) -> Option<Entry> {
        let memory = self.memory.as_ref()?;
        let key = key(&node.position);
        memory.0[SimpleTable::slot(key)].filter(|entry| entry.key == key)
    }

    /// Keeps what a search of a node has found between alpha and beta.
    pub(super) fn remember(&mut self, node: &Node<G>, found: Found<G::Move>, alpha: Score, beta: Score) {
        // The best of some moves says nothing of the position.
        if node.ply == 0 && self.is_restricted() {
            return;
        }
        let Some(memory) = &mut self.memory else { return };
        let key = key(&node.position);
        let bound = match found.score {
            score if score >= beta => Bound::Lower,
            score if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        let mv = found.mv.map_or(Packed::NONE, |mv| node.position.pack(mv));
        let score = found.score.to_tt(node.ply);
        memory.0[SimpleTable::slot(key)] = Some(Entry { key, mv, score, depth: node.depth, bound });
    }
}

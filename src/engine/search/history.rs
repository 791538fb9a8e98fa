//! What earlier cutoffs tell of quiet moves: where they go in the order, and how much they are reduced.
//!
//! Sources: Chess Programming Wiki, "History Heuristic", "Killer Heuristic" and "Continuation History";
//! the update with gravity as in Stockfish.

use arrayvec::ArrayVec;

use super::{MAX_PLY, Played};
use crate::game::{PIECES, SQUARES, Tactics};

/// No entry grows beyond this.
const LIMIT: i32 = 16_384;

/// Scores by piece and target square.
type ByMove = [[i16; SQUARES]; PIECES];

/// How many plies back a move is looked at as the context of the next.
const CONTEXTS: usize = 2;

/// The memory of one search thread.
pub struct History<G: Tactics> {
    quiet: Box<ByMove>,
    /// By the move one or two plies earlier, then by the move itself.
    continuation: Box<[ByMove]>,
    killers: Box<[[Option<G::Move>; 2]]>,
}

/// The quiet moves tried before the one that cut.
pub type Tried<M> = ArrayVec<M, 64>;

impl<G: Tactics> History<G> {
    /// An empty memory.
    pub fn new() -> Self {
        History {
            quiet: Box::new([[0; SQUARES]; PIECES]),
            continuation: vec![[[0; SQUARES]; PIECES]; PIECES * SQUARES].into_boxed_slice(),
            killers: vec![[None; 2]; MAX_PLY as usize + 1].into_boxed_slice(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = History::new();
    }

    /// A new search begins at another position: killers belong to plies of the old one.
    pub fn new_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    /// The quiet moves that last cut at this ply.
    pub fn killers(&self, ply: u16) -> [Option<G::Move>; 2] {
        self.killers[ply as usize]
    }

    /// How good a quiet move was elsewhere, after the moves played before it (the latest first).
    pub fn score(&self, position: &G, mv: G::Move, before: &[Option<Played>; CONTEXTS]) -> i32 {
        let (piece, target) = (position.piece(mv), position.target(mv));
        let continued: i32 = before.iter().flatten().map(|p| i32::from(self.after(p)[piece][target])).sum();
        i32::from(self.quiet[piece][target]) + continued
    }

    fn after(&self, played: &Played) -> &ByMove {
        &self.continuation[played.piece * SQUARES + played.target]
    }

    /// A quiet move cut; the ones tried before it did not.
    pub fn cutoff(
        &mut self,
        position: &G,
        mv: G::Move,
        tried: &Tried<G::Move>,
        before: &[Option<Played>; CONTEXTS],
        (ply, depth): (u16, i32),
    ) {
        let killers = &mut self.killers[ply as usize];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let bonus = (160 * depth - 80).clamp(0, 1600);
        self.add(position, mv, before, bonus);
        for &other in tried {
            self.add(position, other, before, -bonus);
        }
    }

    fn add(&mut self, position: &G, mv: G::Move, before: &[Option<Played>; CONTEXTS], bonus: i32) {
        let (piece, target) = (position.piece(mv), position.target(mv));
        pull(&mut self.quiet[piece][target], bonus);
        for played in before.iter().flatten() {
            pull(&mut self.continuation[played.piece * SQUARES + played.target][piece][target], bonus);
        }
    }
}

/// Adds a bonus that weighs less the nearer the entry is to its limit.
fn pull(entry: &mut i16, bonus: i32) {
    let old = i32::from(*entry);
    *entry = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_their_limit() {
        let mut entry = 0;
        for bonus in [1600; 100].into_iter().chain([-1600; 300]) {
            pull(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= LIMIT);
        }
        assert!(entry < -10_000);
    }
}

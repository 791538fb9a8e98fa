//! What the evaluation gets wrong time and again: where searches came to another score than it did, positions
//! like those are judged with that in mind.
//!
//! Source: Chess Programming Wiki, "Static Evaluation Correction History".

use zeitnot_rules::{Color, PieceTo};

use super::history::pull;
use crate::eval::{EngineGame, PartialKeys};

/// Positions of so many families are told apart; beyond that some share a place.
const PLACES: usize = 8192;
/// No entry grows beyond this.
const LIMIT: i32 = 1024;
/// What an entry at its limit is worth, in centipawns: of each family, and of the last move.
const FAMILY: [i32; PartialKeys::COUNT] = [60, 30, 30];
const REPLY: i32 = 30;
/// One search moves an entry by no more than this part of its limit.
const SLOWNESS: i32 = 4;

/// By what a position is known again.
#[derive(Copy, Clone, Debug)]
pub struct CorrectionKey {
    side: Color,
    families: Option<PartialKeys>,
    last: Option<PieceTo>,
}

impl CorrectionKey {
    /// Of a position, and the move that led to it.
    pub fn new<G: EngineGame>(position: &G, families: Option<PartialKeys>, last: Option<PieceTo>) -> Self {
        CorrectionKey { side: position.side(), families, last }
    }
}

/// The memory of one search thread.
pub struct Correction {
    families: Box<[[[i16; PLACES]; 2]; PartialKeys::COUNT]>,
    replies: Box<[[i16; PieceTo::COUNT]; 2]>,
}

impl Correction {
    /// Nothing was wrong so far.
    pub fn new() -> Self {
        Correction { families: bytemuck::zeroed_box(), replies: bytemuck::zeroed_box() }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.families.as_flattened_mut().as_flattened_mut().fill(0);
        self.replies.as_flattened_mut().fill(0);
    }

    /// Centipawns that are missing in the evaluation of such a position; 0 where its judge knows no families.
    pub fn of(&self, like: &CorrectionKey) -> i32 {
        let Some(families) = like.families else { return 0 };
        let side = like.side as usize;
        let by_family = self.families.iter().zip(families.0).zip(FAMILY);
        let family: i32 =
            by_family.map(|((table, key), worth)| worth * i32::from(table[side][place(key)])).sum();
        let reply = like.last.map_or(0, |last| REPLY * i32::from(self.replies[side][last.index()]));
        (family + reply) / LIMIT
    }

    /// A search of this depth came to a score that is so much better than the evaluation.
    pub fn learn(&mut self, like: &CorrectionKey, error: i32, depth: i32) {
        let Some(families) = like.families else { return };
        let side = like.side as usize;
        let step = (error * depth / 8).clamp(-LIMIT / SLOWNESS, LIMIT / SLOWNESS);
        for (table, key) in self.families.iter_mut().zip(families.0) {
            pull::<LIMIT>(&mut table[side][place(key)], step);
        }
        if let Some(last) = like.last {
            pull::<LIMIT>(&mut self.replies[side][last.index()], step);
        }
    }
}

fn place(key: u64) -> usize {
    key as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess::Chess};

    #[test]
    fn errors_are_expected_again_in_positions_alike() {
        let mut correction = Correction::new();
        let families = |pawns| Some(PartialKeys([pawns, 2, 3]));
        let like = |pawns| CorrectionKey::new(&Chess::start(), families(pawns), None);
        for _ in 0..100 {
            correction.learn(&like(1), 80, 8);
        }
        let (same, other) = (correction.of(&like(1)), correction.of(&like(7)));
        assert!((100..=120).contains(&same) && (50..=60).contains(&other), "{same} {other}");
        correction.learn(&like(7), -80, 8);
        assert!(correction.of(&like(1)) < same);
        assert_eq!(correction.of(&CorrectionKey::new(&Chess::start(), None, None)), 0);
        correction.clear();
        assert_eq!(correction.of(&like(1)), 0);
    }
}

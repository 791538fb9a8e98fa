//! Correction history: adjusts the static evaluation by the search errors of similar positions.
//!
//! Source: Chess Programming Wiki, "Static Evaluation Correction History".

use zeitnot_rules::{Color, PieceTo};

use super::{history::apply_bonus, tunable::tunables};
use crate::eval::{EngineGame, PartialKeys};

/// Entries of each table; keys beyond that share entries.
const SIZE: usize = 8192;
/// Maximum magnitude of an entry.
const LIMIT: i32 = 1024;
/// Largest update of an entry, as in Stockfish.
const MAX_UPDATE: i32 = LIMIT / 4;

tunables! {
    /// Correction of an entry at its limit, in centipawns: by pawns, by the pieces of either side, and by the previous move.
    PAWN_WEIGHT = CorrectionPawns: 60, 0..=300;
    PIECE_WEIGHT = CorrectionPieces: 30, 0..=300;
    CONTINUATION_WEIGHT = CorrectionContinuation: 50, 0..=300;
    /// Divisor of `error · depth` in an update, as in Stockfish.
    UPDATE_DIVISOR = CorrectionUpdateDivisor: 8, 1..=64;
}

/// Weights of the partial keys.
fn partial_weights() -> [i32; PartialKeys::COUNT] {
    [PAWN_WEIGHT.get(), PIECE_WEIGHT.get(), PIECE_WEIGHT.get()]
}

/// Correction-history key of a position.
#[derive(Copy, Clone, Debug)]
pub(crate) struct CorrectionKey {
    side: Color,
    partial_keys: Option<PartialKeys>,
    last: Option<PieceTo>,
}

impl CorrectionKey {
    /// Key of a position and the move that led to it.
    pub(crate) fn new<G: EngineGame>(
        position: &G,
        partial_keys: Option<PartialKeys>,
        last: Option<PieceTo>,
    ) -> Self {
        CorrectionKey { side: position.side_to_move(), partial_keys, last }
    }
}

/// Correction history of one search thread.
pub(crate) struct Correction {
    partial_keys: Box<[[[i16; SIZE]; 2]; PartialKeys::COUNT]>,
    continuation: Box<[[i16; PieceTo::COUNT]; 2]>,
}

impl Correction {
    pub(crate) fn new() -> Self {
        Correction { partial_keys: bytemuck::zeroed_box(), continuation: bytemuck::zeroed_box() }
    }

    pub(crate) fn clear(&mut self) {
        self.partial_keys.as_flattened_mut().as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().fill(0);
    }

    /// Correction in centipawns; 0 where the evaluation has no partial keys.
    pub(crate) fn get(&self, correction_key: &CorrectionKey) -> i32 {
        let Some(partial_keys) = correction_key.partial_keys else { return 0 };
        let side = correction_key.side as usize;
        let weighted = self.partial_keys.iter().zip(partial_keys.0).zip(partial_weights());
        let partial: i32 =
            weighted.map(|((table, key), worth)| worth * i32::from(table[side][index(key)])).sum();
        let continuation = correction_key
            .last
            .map_or(0, |last| CONTINUATION_WEIGHT.get() * i32::from(self.continuation[side][last.index()]));
        (partial + continuation) / LIMIT
    }

    /// Records that a search of this depth differed from the evaluation by `error`.
    pub(crate) fn update(&mut self, correction_key: &CorrectionKey, error: i32, depth: i32) {
        let Some(partial_keys) = correction_key.partial_keys else { return };
        let side = correction_key.side as usize;
        let step = (error * depth / UPDATE_DIVISOR.get()).clamp(-MAX_UPDATE, MAX_UPDATE);
        for (table, key) in self.partial_keys.iter_mut().zip(partial_keys.0) {
            apply_bonus::<LIMIT>(&mut table[side][index(key)], step);
        }
        if let Some(last) = correction_key.last {
            apply_bonus::<LIMIT>(&mut self.continuation[side][last.index()], step);
        }
    }
}

fn index(key: u64) -> usize {
    key as usize % SIZE
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::chess::Chess;

    #[test]
    fn errors_are_expected_again_in_positions_alike() {
        let mut correction = Correction::new();
        let partial_keys = |pawns| Some(PartialKeys([pawns, 2, 3]));
        let correction_key = |pawns| CorrectionKey::new(&Chess::start(), partial_keys(pawns), None);
        for _ in 0..100 {
            correction.update(&correction_key(1), 80, 8);
        }
        let (same, other) = (correction.get(&correction_key(1)), correction.get(&correction_key(7)));
        assert!((100..=120).contains(&same) && (50..=60).contains(&other), "{same} {other}");
        correction.update(&correction_key(7), -80, 8);
        assert!(correction.get(&correction_key(1)) < same);
        assert_eq!(correction.get(&CorrectionKey::new(&Chess::start(), None, None)), 0);
        correction.clear();
        assert_eq!(correction.get(&correction_key(1)), 0);
    }
}

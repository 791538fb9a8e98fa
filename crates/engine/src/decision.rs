//! The best move so far in one atomic word: written by the search, read at the deadline.

use std::sync::atomic::{AtomicU64, Ordering};

use zeitnot_rules::Packed;

use crate::score::Score;

/// Slot that holds a legal move from the start; reading it never blocks.
///
/// Layout of the word: move (16 bits), score (16), depth (16).
#[derive(Debug)]
pub struct Decision(AtomicU64);

/// A move with its score.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The move.
    pub mv: Packed,
    /// Score for the side to move.
    pub score: Score,
    /// Search depth; 0 if it was not searched.
    pub depth: u16,
}

impl Best {
    /// Returns a move that was not searched.
    pub const fn unsearched(mv: Packed) -> Best {
        Best { mv, score: Score::ZERO, depth: 0 }
    }
}

impl Decision {
    /// Creates a slot with a fallback move.
    pub fn new(first: Packed) -> Self {
        Decision(AtomicU64::new(word(Best::unsearched(first))))
    }

    /// Replaces the move.
    pub fn publish(&self, best: Best) {
        self.0.store(word(best), Ordering::Release);
    }

    /// Returns the best move so far.
    pub fn read(&self) -> Best {
        let word = self.0.load(Ordering::Acquire);
        Best {
            mv: Packed(word as u16),
            score: Score::from_bits((word >> 16) as i16),
            depth: (word >> 32) as u16,
        }
    }
}

fn word(best: Best) -> u64 {
    u64::from(best.mv.0) | u64::from(best.score.to_bits() as u16) << 16 | u64::from(best.depth) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_moves_are_read_back() {
        let slot = Decision::new(Packed(7));
        assert_eq!(slot.read(), Best { mv: Packed(7), score: Score::ZERO, depth: 0 });
        let best = Best { mv: Packed(0xffff), score: Score::mated_in(3), depth: 0xffff };
        slot.publish(best);
        assert_eq!(slot.read(), best);
    }
}

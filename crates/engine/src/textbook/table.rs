//! A simple transposition table: one entry a slot, always replaced.
//!
//! Entries of another depth only give their move, so that values stay those of minimax.
//!
//! Source: Chess Programming Wiki, "Transposition Table".

use zeitnot_rules::{Key, Packed, Tactics};

use crate::{Score, transposition_table::Bound};

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
    pub(crate) key: Key,
    /// Best move.
    pub(crate) mv: Packed,
    /// Score relative to the position, not to the root.
    pub(crate) score: Score,
    pub(crate) depth: u16,
    pub(crate) bound: Bound,
}

impl SimpleTable {
    pub(crate) fn new() -> Self {
        SimpleTable(vec![None; SLOTS].into_boxed_slice())
    }

    pub(crate) fn clear(&mut self) {
        self.0.fill(None);
    }

    /// Fill level in permille, from a sample.
    pub(crate) fn hashfull(&self) -> u16 {
        self.0.iter().take(1000).flatten().count() as u16
    }

    /// Returns the entry of a key, at any depth.
    pub(crate) fn probe(&self, key: Key) -> Option<Entry> {
        self.0[Self::slot(key)].filter(|entry| entry.key == key)
    }

    /// Stores an entry.
    pub(crate) fn store(&mut self, entry: Entry) {
        self.0[Self::slot(entry.key)] = Some(entry);
    }

    fn slot(key: Key) -> usize {
        key.0 as usize % SLOTS
    }
}

/// Key that includes the fifty-move counter where it matters.
pub(super) fn key<G: Tactics>(position: &G) -> Key {
    let Key(key) = position.table_key();
    match position.reversible_plies() {
        plies if plies < FIFTY_MOVE_HORIZON => Key(key),
        // Fibonacci hashing spreads the counter over all bits.
        plies => Key(key ^ u64::from(plies).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    }
}

//! Lock-free transposition table, shared by all threads and games.
//!
//! The key is stored xor-ed with the data, so that an entry torn by two writers matches no key.
//!
//! Sources: Chess Programming Wiki, "Transposition Table"; Hyatt and Mann, "A lockless transposition table
//! implementation for parallel search" (2002).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;

use zeitnot_rules::{Key, Packed};

use super::{
    Score, huge_pages,
    memory::{self, OutOfMemory},
};

/// Relation of a stored score to the true one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at most this.
    Upper,
    /// The true score is at least this.
    Lower,
    /// The true score is this.
    Exact,
}

impl Bound {
    /// Bound of a fail-soft score that a search with this window has found.
    pub(crate) fn of(score: Score, alpha: Score, beta: Score) -> Bound {
        match score {
            _ if score >= beta => Bound::Lower,
            _ if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        }
    }

    /// Returns whether a score with this bound cuts off a search with this window.
    pub(crate) fn cuts_off(self, score: Score, alpha: Score, beta: Score) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }
}

/// Result of a searched node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move, or [`Packed::NONE`].
    pub mv: Packed,
    /// Score relative to the node, see [`Score::to_tt`].
    pub score: Score,
    /// Uncorrected static evaluation.
    pub eval: Score,
    /// Depth in plies; 0 for quiescence.
    pub depth: u8,
    /// Bound of the score.
    pub bound: Bound,
}

impl Entry {
    fn to_bits(self, age: u8) -> u64 {
        u64::from(self.mv.0)
            | u64::from(self.score.to_bits() as u16) << 16
            | u64::from(self.eval.to_bits() as u16) << 32
            | u64::from(self.depth) << 48
            | (self.bound as u64 + 1) << 56
            | u64::from(age) << 58
    }

    /// Returns `None` for an empty slot.
    fn from_bits(bits: u64) -> Option<Entry> {
        let bound = match bits >> 56 & 3 {
            0 => return None,
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        };
        Some(Entry {
            mv: Packed(bits as u16),
            score: Score::from_bits((bits >> 16) as i16),
            eval: Score::from_bits((bits >> 32) as i16),
            depth: (bits >> 48) as u8,
            bound,
        })
    }
}

#[derive(Zeroable)]
#[repr(C)]
struct Slot {
    /// Key xor data.
    check: AtomicU64,
    data: AtomicU64,
}

/// The slots of one key: one cache line.
#[derive(Zeroable)]
#[repr(C, align(64))]
struct Cluster([Slot; 4]);

/// Ages have six bits.
const AGE_COUNT: u8 = 64;
/// Value of an age against plies of depth in replacement, as in Stockfish.
const AGE_WEIGHT: i32 = 8;
/// A bound that is shallower by more than this does not replace an entry of the same search.
const KEPT_DEPTH_MARGIN: u8 = 4;
/// Clusters sampled by [`TranspositionTable::hashfull`].
const HASHFULL_SAMPLE: usize = 250;

/// Transposition table, see the module documentation.
pub struct TranspositionTable {
    clusters: Box<[Cluster]>,
    age: AtomicU8,
}

impl TranspositionTable {
    /// Creates an empty table of this many MiB (at least one); the system commits its pages on first use.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(mib: usize) -> Result<TranspositionTable, OutOfMemory> {
        memory::check(mib)?;
        let clusters = mib.max(1).checked_mul((1 << 20) / size_of::<Cluster>()).ok_or(OutOfMemory(mib))?;
        let clusters: Box<[Cluster]> =
            bytemuck::allocation::try_zeroed_slice_box(clusters).map_err(|()| OutOfMemory(mib))?;
        huge_pages::ask_for(&clusters);
        Ok(TranspositionTable { clusters, age: AtomicU8::new(0) })
    }

    /// Clears the table.
    pub fn clear(&self) {
        for slot in self.clusters.iter().flat_map(|c| &c.0) {
            slot.check.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(0, Relaxed);
    }

    /// Begins a new search: older entries are replaced first.
    pub(crate) fn new_search(&self) {
        let age = self.age.load(Relaxed);
        self.age.store((age + 1) % AGE_COUNT, Relaxed);
    }

    fn cluster(&self, key: Key) -> &Cluster {
        // Maps the key's high bits to a cluster index by multiplication.
        let index = (u128::from(key.0) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }

    /// Prefetches the cluster of a position for a later [`TranspositionTable::probe`].
    #[inline]
    pub fn prefetch(&self, key: Key) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

            let place = std::ptr::from_ref(self.cluster(key)).cast();
            // SAFETY: a prefetch neither reads nor writes, and the address is inside the table.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(place);
            }
        }
    }

    /// Returns the entry of a position.
    pub fn probe(&self, key: Key) -> Option<Entry> {
        self.cluster(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (slot.check.load(Relaxed) ^ data == key.0).then(|| Entry::from_bits(data)).flatten()
        })
    }

    /// Stores an entry in place of the least valuable one of its cluster.
    pub fn store(&self, key: Key, entry: Entry) {
        let age = self.age.load(Relaxed);
        let mut victim = (i32::MAX, None);
        for slot in &self.cluster(key).0 {
            let data = slot.data.load(Relaxed);
            let Some(old) = Entry::from_bits(data) else {
                victim = (i32::MIN, Some((slot, entry.mv)));
                continue;
            };
            if slot.check.load(Relaxed) ^ data == key.0 {
                // A much deeper result of this search is worth more than a shallow bound.
                let current = (data >> 58) as u8 == age;
                if current && entry.bound != Bound::Exact && entry.depth + KEPT_DEPTH_MARGIN < old.depth {
                    return;
                }
                let mv = if entry.mv == Packed::NONE { old.mv } else { entry.mv };
                victim = (i32::MIN, Some((slot, mv)));
                break;
            }
            let age_difference = (age + AGE_COUNT - (data >> 58) as u8) % AGE_COUNT;
            let value = i32::from(old.depth) - AGE_WEIGHT * i32::from(age_difference);
            if value < victim.0 {
                victim = (value, Some((slot, entry.mv)));
            }
        }
        if let (_, Some((slot, mv))) = victim {
            let data = Entry { mv, ..entry }.to_bits(age);
            slot.check.store(key.0 ^ data, Relaxed);
            slot.data.store(data, Relaxed);
        }
    }

    /// Share of the table filled by this search in permille, from a sample.
    pub fn hashfull(&self) -> u16 {
        let age = u64::from(self.age.load(Relaxed));
        let sample = self.clusters.iter().take(HASHFULL_SAMPLE).flat_map(|c| &c.0);
        let used = sample.filter(|slot| {
            let data = slot.data.load(Relaxed);
            Entry::from_bits(data).is_some() && data >> 58 == age
        });
        used.count() as u16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(depth: u8, mv: u16) -> Entry {
        Entry { mv: Packed(mv), score: Score::cp(-17), eval: Score::cp(5), depth, bound: Bound::Lower }
    }

    proptest! {
        #[test]
        fn any_entry_comes_back(key: u64, mv: u16, score in -32_000i16..=32_000, eval in -32_000i16..=32_000, depth: u8) {
            let table = TranspositionTable::new(1).unwrap();
            let entry = Entry { mv: Packed(mv), score: Score::from_bits(score), eval: Score::from_bits(eval), depth, bound: Bound::Exact };
            table.store(Key(key), entry);
            prop_assert_eq!(table.probe(Key(key)), Some(entry));
            prop_assert_eq!(table.probe(Key(key ^ 1)), None);
        }
    }

    #[test]
    fn the_old_and_shallow_go_first() {
        let table = TranspositionTable::new(1).unwrap();
        // Keys that fall into the same cluster: they differ in the low bits only.
        table.store(Key(1), entry(9, 1));
        table.new_search();
        for key in 2..=4 {
            table.store(Key(key), entry(5 + key as u8, 1));
        }
        table.store(Key(5), entry(1, 1));
        assert_eq!(table.probe(Key(1)), None, "deep, but of an old search");
        assert!((2..=5).all(|key| table.probe(Key(key)).is_some()));
        table.store(Key(6), entry(3, 1));
        assert_eq!(table.probe(Key(5)), None, "the shallowest");
    }

    #[test]
    fn a_result_without_a_move_keeps_the_old_one() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(Key(1), entry(3, 77));
        table.store(Key(1), entry(4, 0));
        assert_eq!(table.probe(Key(1)).unwrap().mv, Packed(77));
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert_eq!(TranspositionTable::new(usize::MAX).err(), Some(OutOfMemory(usize::MAX)));
        // A compiler that sees an allocation unused leaves it out, and with it its failure.
        let table = std::hint::black_box(TranspositionTable::new(1 << 40));
        assert_eq!(table.err(), Some(OutOfMemory(1 << 40)));
    }
}

//! The transposition table: what earlier searches found out, by position; shared by all threads and
//! games without locks.
//!
//! Source of the lock-free scheme: Hyatt and Mann, "A lockless transposition table implementation for
//! parallel search". Key and data stand in two words, the first xor-ed with the second: a pair torn by
//! two writers fits no key.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;

use zeitnot_rules::{Key, Packed};

use super::{Score, huge_pages};

/// What a stored score says of the true one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is at most this.
    Upper,
    /// It is at least this.
    Lower,
    /// It is this.
    Exact,
}

/// What is kept of a searched node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move, or [`Packed::NONE`].
    pub mv: Packed,
    /// Counted from the node, not from the root: see [`Score::to_tt`].
    pub score: Score,
    /// The static evaluation.
    pub eval: Score,
    /// In plies; 0: quiescence.
    pub depth: u8,
    /// What the score says.
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

    /// `None`: nothing was ever stored there.
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
    /// The key, xor-ed with the data.
    check: AtomicU64,
    data: AtomicU64,
}

/// The slots a position may stand in: one cache line.
#[derive(Zeroable)]
#[repr(C, align(64))]
struct Cluster([Slot; 4]);

/// Ages have six bits.
const AGES: u8 = 64;

/// See the module's comment.
pub struct TranspositionTable {
    clusters: Box<[Cluster]>,
    age: AtomicU8,
}

/// More memory than there is.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("cannot allocate a hash table of {0} MiB; choose a smaller one")]
pub struct OutOfMemory(pub usize);

impl TranspositionTable {
    /// An empty table of this many MiB (at least one). The system hands out its pages as they are used.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(mib: usize) -> Result<TranspositionTable, OutOfMemory> {
        let clusters = mib.max(1).checked_mul((1 << 20) / size_of::<Cluster>()).ok_or(OutOfMemory(mib))?;
        let clusters: Box<[Cluster]> =
            bytemuck::allocation::try_zeroed_slice_box(clusters).map_err(|()| OutOfMemory(mib))?;
        huge_pages::ask_for(&clusters);
        Ok(TranspositionTable { clusters, age: AtomicU8::new(0) })
    }

    /// Forgets everything.
    pub fn clear(&self) {
        for slot in self.clusters.iter().flat_map(|c| &c.0) {
            slot.check.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(0, Relaxed);
    }

    /// What was stored before counts as old from now on.
    pub fn new_search(&self) {
        let age = self.age.load(Relaxed);
        self.age.store((age + 1) % AGES, Relaxed);
    }

    fn cluster(&self, key: Key) -> &Cluster {
        // The key's high bits, spread over the clusters: always below their number.
        let index = (u128::from(key.0) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }

    /// Brings the place of a position near, for a [`TranspositionTable::probe`] that comes soon.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

            let place = std::ptr::from_ref(self.cluster(key)).cast();
            // SAFETY: a hint, which reads and writes nothing; and the place is one of the table's own.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(place);
            }
        }
    }

    /// What is known of a position.
    pub fn probe(&self, key: Key) -> Option<Entry> {
        self.cluster(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (slot.check.load(Relaxed) ^ data == key.0).then(|| Entry::from_bits(data)).flatten()
        })
    }

    /// Keeps what was found out, in place of the least useful of a few others.
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
                // A much deeper result of this search is worth more than a shallow one that is no score.
                let current = (data >> 58) as u8 == age;
                if current && entry.bound != Bound::Exact && entry.depth + 4 < old.depth {
                    return;
                }
                let mv = if entry.mv == Packed::NONE { old.mv } else { entry.mv };
                victim = (i32::MIN, Some((slot, mv)));
                break;
            }
            let years = (age + AGES - (data >> 58) as u8) % AGES;
            let use_of_it = i32::from(old.depth) - 8 * i32::from(years);
            if use_of_it < victim.0 {
                victim = (use_of_it, Some((slot, entry.mv)));
            }
        }
        if let (_, Some((slot, mv))) = victim {
            let data = Entry { mv, ..entry }.to_bits(age);
            slot.check.store(key.0 ^ data, Relaxed);
            slot.data.store(data, Relaxed);
        }
    }

    /// How much of the table this search has filled, in thousandths, from a sample.
    pub fn hashfull(&self) -> u16 {
        let age = u64::from(self.age.load(Relaxed));
        let sample = self.clusters.iter().take(250).flat_map(|c| &c.0);
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

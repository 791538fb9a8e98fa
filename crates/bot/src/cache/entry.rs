//! Entry of the cache, in memory and as bytes on disk.

use zeitnot_engine::Score;
use zeitnot_rules::Packed;

use super::CachedMove;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub cached: CachedMove,
    pub engine: u64,
    /// Time in hours since 1970.
    pub hour: u32,
}

const VERSION: u8 = 1;
pub(super) const SIZE: usize = 27;

/// Version, move, score, depth, effort, engine and hour, in little-endian order.
pub(super) type Bytes = [u8; SIZE];

impl Entry {
    pub(super) fn to_bytes(self) -> Bytes {
        let CachedMove { mv, score, depth, effort } = self.cached;
        let mut bytes = [0; SIZE];
        bytes[0] = VERSION;
        bytes[1..3].copy_from_slice(&mv.0.to_le_bytes());
        bytes[3..5].copy_from_slice(&score.to_bits().to_le_bytes());
        bytes[5..7].copy_from_slice(&depth.to_le_bytes());
        bytes[7..15].copy_from_slice(&effort.to_le_bytes());
        bytes[15..23].copy_from_slice(&self.engine.to_le_bytes());
        bytes[23..27].copy_from_slice(&self.hour.to_le_bytes());
        bytes
    }

    /// Parses an entry; `None` if it has another format.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Entry> {
        let bytes = bytes.strip_prefix(&[VERSION])?;
        let (mv, bytes) = bytes.split_first_chunk()?;
        let (score, bytes) = bytes.split_first_chunk()?;
        let (depth, bytes) = bytes.split_first_chunk()?;
        let (effort, bytes) = bytes.split_first_chunk()?;
        let (engine, bytes) = bytes.split_first_chunk()?;
        let cached = CachedMove {
            mv: Packed(u16::from_le_bytes(*mv)),
            score: Score::from_bits(i16::from_le_bytes(*score)),
            depth: u16::from_le_bytes(*depth),
            effort: u64::from_le_bytes(*effort),
        };
        let hour = u32::from_le_bytes(bytes.try_into().ok()?);
        Some(Entry { cached, engine: u64::from_le_bytes(*engine), hour })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_survive_the_conversion_to_bytes(
            (mv, score, depth) in any::<(u16, i16, u16)>(), (effort, engine, hour) in any::<(u64, u64, u32)>(),
        ) {
            let cached = CachedMove { mv: Packed(mv), score: Score::from_bits(score), depth, effort };
            let entry = Entry { cached, engine, hour };
            prop_assert_eq!(Entry::from_bytes(&entry.to_bytes()), Some(entry));
        }

        #[test]
        fn other_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let is_one = bytes.len() == SIZE && bytes[0] == VERSION;
            prop_assert_eq!(Entry::from_bytes(&bytes).is_some(), is_one);
        }
    }
}

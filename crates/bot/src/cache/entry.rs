//! What is kept of a position, in memory and as bytes on the disk.

use zeitnot_engine::Score;
use zeitnot_rules::Packed;

use super::Found;

/// A move that was found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub found: Found,
    /// Who found it: see [`EngineFactory::fingerprint`](zeitnot_engine::EngineFactory::fingerprint).
    pub engine: u64,
    /// When, in hours since 1970: the oldest go first.
    pub hour: u32,
}

/// The form of the bytes.
const VERSION: u8 = 1;
/// How many they are.
pub(super) const SIZE: usize = 27;

/// As it stands on the disk: version, move, score, depth, effort, engine, hour, the lowest byte first.
pub(super) type Bytes = [u8; SIZE];

impl Entry {
    /// For the disk.
    pub fn to_bytes(self) -> Bytes {
        let Found { mv, score, depth, effort } = self.found;
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

    /// From the disk; `None` if it is of another form.
    pub fn from_bytes(bytes: &[u8]) -> Option<Entry> {
        let bytes = bytes.strip_prefix(&[VERSION])?;
        let (mv, bytes) = bytes.split_first_chunk()?;
        let (score, bytes) = bytes.split_first_chunk()?;
        let (depth, bytes) = bytes.split_first_chunk()?;
        let (effort, bytes) = bytes.split_first_chunk()?;
        let (engine, bytes) = bytes.split_first_chunk()?;
        let found = Found {
            mv: Packed(u16::from_le_bytes(*mv)),
            score: Score::from_bits(i16::from_le_bytes(*score)),
            depth: u16::from_le_bytes(*depth),
            effort: u64::from_le_bytes(*effort),
        };
        let hour = u32::from_le_bytes(bytes.try_into().ok()?);
        Some(Entry { found, engine: u64::from_le_bytes(*engine), hour })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            (mv, score, depth) in any::<(u16, i16, u16)>(), (effort, engine, hour) in any::<(u64, u64, u32)>(),
        ) {
            let found = Found { mv: Packed(mv), score: Score::from_bits(score), depth, effort };
            let entry = Entry { found, engine, hour };
            prop_assert_eq!(Entry::from_bytes(&entry.to_bytes()), Some(entry));
        }

        #[test]
        fn other_bytes_are_refused_or_read_but_never_harm(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let is_one = bytes.len() == SIZE && bytes[0] == VERSION;
            prop_assert_eq!(Entry::from_bytes(&bytes).is_some(), is_one);
        }
    }
}

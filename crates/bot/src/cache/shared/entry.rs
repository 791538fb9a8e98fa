//! Entries of the shared cache as bytes: keys and values.

use zeitnot_engine::Score;
use zeitnot_rules::Packed;

#[cfg(feature = "redis")]
use super::config::SharedPrefix;
use crate::cache::{CachedMove, store::PositionKey};

/// Version of the keys and values. Programs with another one do not see each other's entries.
const VERSION: u8 = 1;
/// More nodes than any search has. A greater effort would never be replaced.
const MAX_EFFORT: u64 = 1 << 50;

/// Bytes of a value: version, move, score, depth, effort, each in little-endian order.
pub(super) const VALUE_BYTES: usize = 1 + 2 + 2 + 2 + 8;

/// Key of a position that an engine has searched. Results of other engines would not be played, so each engine has
/// entries of its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::cache) struct SharedKey {
    pub(in crate::cache) position: PositionKey,
    /// Fingerprint of the engine.
    pub(in crate::cache) engine: u64,
}

#[cfg(feature = "redis")]
impl SharedKey {
    /// Returns the key on the server.
    pub(super) fn under(self, prefix: &SharedPrefix) -> String {
        let SharedKey { position: (game, position), engine } = self;
        format!("{prefix}:{VERSION}:{game}:{engine:016x}:{position:016x}")
    }
}

impl CachedMove {
    /// Returns the value for the shared cache.
    pub fn to_bytes(self) -> [u8; VALUE_BYTES] {
        let CachedMove { mv, score, depth, effort } = self;
        let mut bytes = [VERSION; VALUE_BYTES];
        bytes[1..3].copy_from_slice(&mv.0.to_le_bytes());
        bytes[3..5].copy_from_slice(&score.to_bits().to_le_bytes());
        bytes[5..7].copy_from_slice(&depth.to_le_bytes());
        bytes[7..].copy_from_slice(&effort.min(MAX_EFFORT).to_le_bytes());
        bytes
    }

    /// Reads a value of the shared cache; `None` if it is not one of ours. The move may be illegal.
    pub fn from_bytes(bytes: &[u8]) -> Option<CachedMove> {
        let bytes: &[u8; VALUE_BYTES] = bytes.try_into().ok()?;
        let [version, m0, m1, s0, s1, d0, d1, effort @ ..] = *bytes;
        let bits = i16::from_le_bytes([s0, s1]);
        let score = Score::from_bits(bits);
        let effort = u64::from_le_bytes(effort);
        let fits = version == VERSION && score.to_bits() == bits && effort <= MAX_EFFORT;
        let mv = Packed(u16::from_le_bytes([m0, m1]));
        let depth = u16::from_le_bytes([d0, d1]);
        fits.then_some(CachedMove { mv, score, depth, effort })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOVE: CachedMove =
        CachedMove { mv: Packed(0x0c1c), score: Score::cp(-35), depth: 21, effort: 1_234_567 };

    #[cfg(feature = "redis")]
    #[test]
    fn keys_and_values_stay_as_they_are() {
        // Other programs of the fleet may be older or newer: a change needs another version.
        let key = SharedKey { position: ("chess", 0x0123_4567_89ab_cdef), engine: 7 };
        let shown = key.under(&SharedPrefix::default()).to_string();
        assert_eq!(shown, "zeitnot:1:chess:0000000000000007:0123456789abcdef");
        assert_eq!(MOVE.to_bytes(), [1, 0x1c, 0x0c, 0xdd, 0xff, 21, 0, 0x87, 0xd6, 0x12, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn other_values_are_refused() {
        let with = |at: usize, byte: u8| {
            let mut bytes = MOVE.to_bytes();
            bytes[at] = byte;
            bytes
        };
        assert_eq!(CachedMove::from_bytes(&with(5, 22)), Some(CachedMove { depth: 22, ..MOVE }));
        for (what, bytes) in [
            ("empty", &[][..]),
            ("short", &MOVE.to_bytes()[1..]),
            ("long", &[1; VALUE_BYTES + 1]),
            ("of another version", &with(0, 2)),
            ("with a score that no position has", &with(4, 0x7f)),
            ("with an effort that no search has", &with(14, 1)),
        ] {
            assert_eq!(CachedMove::from_bytes(bytes), None, "{what}");
        }
    }

    proptest! {
        #[test]
        fn values_are_read_as_they_were_written(mv: u16, score in -32_000..=32_000i16, depth: u16, effort in 0..=MAX_EFFORT) {
            let cached = CachedMove { mv: Packed(mv), score: Score::from_bits(score), depth, effort };
            prop_assert_eq!(CachedMove::from_bytes(&cached.to_bytes()), Some(cached));
        }

        #[test]
        fn what_is_read_is_written_in_the_same_way(bytes: [u8; VALUE_BYTES], version in 0..3u8) {
            let mut bytes = bytes;
            bytes[0] = version;
            if let Some(cached) = CachedMove::from_bytes(&bytes) {
                prop_assert_eq!(cached.to_bytes(), bytes);
            }
        }
    }
}

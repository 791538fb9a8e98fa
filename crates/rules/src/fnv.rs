//! FNV-1a: a small hash that is the same on every machine and in every version.

/// The FNV-1a hash of a text.
pub const fn fnv1a(text: &str) -> u64 {
    fnv1a_bytes(text.as_bytes())
}

/// The FNV-1a hash of some bytes.
pub const fn fnv1a_bytes(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x100_0000_01b3);
        at += 1;
    }
    hash
}

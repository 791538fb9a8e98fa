//! Values of the shared cache.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_bot::cache::CachedMove;

fuzz_target!(|bytes: &[u8]| {
    if let Some(cached) = CachedMove::from_bytes(bytes) {
        assert_eq!(cached.to_bytes().as_slice(), bytes);
    }
});

//! Parser of FIDE's report files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_wire::trf::Trf;

fuzz_target!(|text: &str| {
    if let Ok(trf) = text.parse::<Trf>() {
        assert_eq!(trf.to_string().parse::<Trf>(), Ok(trf));
    }
});

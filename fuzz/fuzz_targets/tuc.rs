//! Parsers of the TUC-Chess.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_fuzz::round_trip;
use zeitnot_wire::tuc::{FromClient, FromServer};

fuzz_target!(|text: &str| {
    round_trip::<FromClient>(text);
    round_trip::<FromServer>(text);
});

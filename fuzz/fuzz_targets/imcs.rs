//! Parsers of the IMCS.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_fuzz::round_trip;
use zeitnot_wire::imcs::{Answer, Command, FromServer};

fuzz_target!(|text: &str| {
    round_trip::<Command>(text);
    round_trip::<Answer>(text);
    round_trip::<FromServer>(text);
});

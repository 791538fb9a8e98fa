//! Parsers of the NTHU course's files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_wire::nthu::{Action, parse_state, print_state};

fuzz_target!(|bytes: &[u8]| {
    Action::parse(bytes);
    if let Ok(position) = parse_state(bytes) {
        assert_eq!(parse_state(print_state(&position).as_bytes()), Ok(position));
    }
});

//! Parsers of UCI, UBGI and CECP, on both sides.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_wire::{
    engines::{cecp, uci},
    uci::{FromGui, Words},
};

fuzz_target!(|text: &str| {
    let _ = FromGui::parse(text, Words::Ubgi);
    if let Ok(FromGui::Go { go, .. }) = FromGui::parse(text, Words::Uci) {
        assert_eq!(FromGui::parse(&go.to_string(), Words::Uci), Ok(FromGui::Go { go, ignored: String::new() }));
    }
    uci::FromEngine::parse(text);
    if let cecp::FromEngine::Features(features) = cecp::FromEngine::parse(text) {
        features.iter().for_each(|(_, value)| drop(cecp::setting(value)));
    }
});

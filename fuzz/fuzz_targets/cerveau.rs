//! Parsers of Cerveau, and the state of a game.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_fuzz::round_trip;
use zeitnot_wire::{
    Message,
    cerveau::{FromClient, FromServer, GameState},
};

fuzz_target!(|text: &str| {
    round_trip::<FromClient>(text);
    let mut state = GameState::default();
    for line in text.lines() {
        round_trip::<FromServer>(line);
        if let Ok(FromServer::Delta(delta)) = FromServer::parse(line) {
            state.merge(delta);
        }
    }
    let _ = (state.result(), state.left(), state.names());
});

//! Files of games for training.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_trainer::games::{PlayedGame, games};

fuzz_target!(|bytes: &[u8]| {
    for game in games(bytes).flatten() {
        let plies: Result<Vec<_>, _> = game.plies().collect();
        if let Ok(plies) = plies {
            // A legal game is written as it was read.
            let plies = plies.iter().map(|ply| (ply.mv, ply.score)).collect();
            let again = PlayedGame { start: game.start().clone(), plies, result: game.result() }.to_bytes();
            assert_eq!(games(&again).count(), 1);
        }
    }
});

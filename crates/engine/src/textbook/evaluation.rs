//! Material with a random term: the evaluation of many course reports.
//!
//! The random term lets a player choose among moves that win the same material. It depends on the position alone, so
//! that searches can be repeated, and transpositions have the same value.

use serde::{Deserialize, Serialize};
use zeitnot_rules::{Color, Tactics};
use zeitnot_settings::{JsonSchema, schemars};

use crate::Score;

/// Range of the random term in centipawns: too small to outweigh a pawn.
const RANDOM: u64 = 100;

/// Evaluation of the leaves by the textbook algorithms.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evaluation {
    /// That of the engine.
    #[default]
    Engine,
    /// Values of the pieces, and a random term.
    Material,
}

/// Material lead of the side to move, with the random term of the position.
pub(super) fn material<G: Tactics>(position: &G) -> Score {
    // Fibonacci hashing; the high bits depend on all bits of the key.
    let hash = position.table_key().0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let random = (hash % RANDOM) as i32 - RANDOM as i32 / 2;
    let random = if position.side_to_move() == Color::White { random } else { -random };
    Score::cp(position.material() + random)
}

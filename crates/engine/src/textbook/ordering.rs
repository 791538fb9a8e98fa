//! The order of the moves: alpha-beta looks at the fewest positions where the best move comes first.
//!
//! The table's move goes first, then captures, the most valuable victim before all and by the least valuable
//! attacker, then the quiet moves as they were generated. Source: Chess Programming Wiki, "MVV-LVA".

use std::cmp::Reverse;

use zeitnot_rules::{Moves, Tactics};

/// Puts the promising moves first.
pub(super) fn order<G: Tactics>(position: &G, moves: &mut Moves<G::Move>, first: Option<G::Move>) {
    moves.sort_by_cached_key(|&mv| {
        let gain = position.gain(mv);
        let attacker = if gain > 0 { position.worth(mv) } else { 0 };
        (Some(mv) != first, Reverse(gain), attacker)
    });
}

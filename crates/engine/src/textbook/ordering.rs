//! Move ordering: the table's move, captures by MVV-LVA, then quiet moves as generated.
//!
//! Source: Chess Programming Wiki, "Move Ordering" and "MVV-LVA".

use std::cmp::Reverse;

use zeitnot_rules::{Moves, Tactics};

/// Sorts the most promising moves to the front.
pub(super) fn order<G: Tactics>(position: &G, moves: &mut Moves<G::Move>, first: Option<G::Move>) {
    moves.sort_by_cached_key(|&mv| {
        let gain = position.gain(mv);
        let attacker = if gain > 0 { position.piece_value(mv) } else { 0 };
        (Some(mv) != first, Reverse(gain), attacker)
    });
}

//! Repetition of positions, as a search counts it.

use zeitnot_rules::{Game, Key};

/// Returns whether a position occurred in the search before, or in the game as often as makes a draw. Of the keys
/// before it, those from index `played` on belong to the search.
pub(crate) fn repeats<G: Game>(position: &G, keys: &[Key], played: usize) -> bool {
    let key = position.key();
    let reversible = (position.reversible_plies() as usize).min(keys.len());
    let mut before = 0;
    // A position can recur after four plies at the earliest, and only with the same side to move.
    for distance in (4..=reversible).step_by(2) {
        let at = keys.len() - distance;
        if keys[at] == key {
            before += 1;
            if at >= played || before + 1 >= position.repetition_limit() {
                return true;
            }
        }
    }
    false
}

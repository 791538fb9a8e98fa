//! Repetition of positions, as a search counts it.

use zeitnot_rules::{Key, Tactics};

/// A position that recurs in the search counts as drawn at once, for what was possible once is possible again; but not
/// when no more than this many plies are left: the search reaches the end of the game then, and counts occurrences.
const EXACT_PLIES: u32 = 24;

/// Returns whether a position counts as a draw by repetition: it has occurred as often as the rule says, or in the
/// search before, with enough plies left for the same moves to repeat it as often. Of the keys before it, those from
/// index `played` on belong to the search.
pub(crate) fn repeats<G: Tactics>(position: &G, keys: &[Key], played: usize) -> bool {
    let key = position.key();
    let reversible = (position.reversible_plies() as usize).min(keys.len());
    let (mut occurrences, mut cycle) = (1, None);
    // A position can recur after four plies at the earliest, and only with the same side to move.
    for distance in (4..=reversible).step_by(2) {
        let at = keys.len() - distance;
        if keys[at] == key {
            occurrences += 1;
            let searched = at >= played;
            if occurrences >= position.repetition_limit() || searched && position.plies_left().is_none() {
                return true;
            }
            if searched {
                cycle.get_or_insert(distance);
            }
        }
    }
    cycle.zip(position.plies_left()).is_some_and(|(cycle, left)| {
        left > EXACT_PLIES && (position.repetition_limit() - occurrences) * cycle <= left as usize
    })
}

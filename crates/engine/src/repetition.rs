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

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{
        GameHistory,
        chess::Chess,
        minichess::{MiniChess, Rules},
    };

    /// Returns whether a search takes the position after these moves, all of them searched, for a draw.
    fn is_draw<G: Tactics>(start: G, moves: impl Iterator<Item = &'static str>) -> bool {
        let mut game = GameHistory::new(start);
        moves.for_each(|text| game.play(game.now().read(text).unwrap()));
        repeats(game.now(), game.keys(), 0)
    }

    #[test]
    fn a_recurrence_is_a_draw_where_it_can_become_a_repetition() {
        let after = |plies: u16, cycles: usize| {
            let moves = ["b1a3", "d6e4", "a3b1", "e4d6"].into_iter().cycle();
            is_draw(MiniChess::start(Rules::Nthu2026).at_ply(plies), moves.take(4 * cycles))
        };
        assert!(after(0, 1) && after(60, 1));
        // With eight plies left, two more cycles fit; but the search sees whether they happen.
        assert!(!after(88, 1) && !after(88, 2));
        assert!(!after(92, 1), "two more cycles do not fit into four plies");
        assert!(after(88, 3), "the fourth occurrence");
        // A knight on its way round the board, and a king that waits: a cycle of sixteen plies.
        let round = |plies: u16| {
            let knight = ["a1b3", "b3a5", "a5c6", "c6e5", "e5d3", "d3e1", "e1c2", "c2a1"];
            let moves = knight.into_iter().zip(["a6b6", "b6a6"].into_iter().cycle()).flat_map(<[_; 2]>::from);
            let start = MiniChess::parse(Rules::Nthu2026, "k..../...../...../...../....K/N.... W");
            is_draw(start.unwrap().at_ply(plies), moves)
        };
        assert!(round(52), "two more cycles fit into 32 plies");
        assert!(!round(54), "they do not fit into 30");
        let knights = ["g1f3", "g8f6", "f3g1", "f6g8"];
        assert!(is_draw(Chess::start(), knights.into_iter()), "no count ends a game of chess");
    }
}

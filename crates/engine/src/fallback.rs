//! The move to play without a search.

use zeitnot_rules::{Outcome, Tactics};

use crate::{
    Score,
    eval::{EngineGame, Evaluator},
};

/// Returns the move that leads to the best static evaluation, less what hangs then, among those that lose least
/// material by exchanges; `None` if there is no legal move.
pub(crate) fn best_static<G: EngineGame>(position: &G) -> Option<G::Move> {
    let mut evaluator = G::Evaluator::default();
    let state = evaluator.refresh(position);
    let worth = |mv: &G::Move| {
        let after = position.after(*mv);
        match after.outcome() {
            Outcome::Ongoing => {
                let next = evaluator.update(&state, position, *mv);
                let score = -evaluator.evaluate(&next, &after);
                let hanging = hanging(&after);
                ((position.gain(*mv) - hanging).min(0), score.offset(-hanging))
            }
            outcome => {
                let score = -Score::from_outcome(outcome, after.side_to_move(), 0);
                (if score < Score::ZERO { i32::MIN } else { 0 }, score)
            }
        }
    };
    position.moves().into_iter().max_by_key(worth)
}

/// Returns the material that the side to move wins with the best single exchange, in centipawns.
fn hanging<G: Tactics>(position: &G) -> i32 {
    let mut most = 0;
    for mv in position.noisy_moves() {
        let mut too_much = position.gain(mv) + 1;
        // Between what is won already and what the move wins before the other side answers.
        while most + 1 < too_much && position.see_ge(mv, most + 1) {
            let middle = most + (too_much - most) / 2;
            if position.see_ge(mv, middle) {
                most = middle;
            } else {
                too_much = middle;
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{
        minichess::{MiniChess, Rules},
        tuc::{self, Tuc},
    };

    /// Whether the other side wins more by one capture afterwards than the move wins.
    fn loses<G: Tactics>(position: &G, mv: G::Move) -> bool {
        let after = position.after(mv);
        let lost = position.gain(mv) + 1;
        after.noisy_moves().into_iter().any(|reply| after.see_ge(reply, lost))
    }

    /// Plays random games, and counts the positions where the move without a search loses material by exchanges
    /// although another does not.
    fn blunders<G: EngineGame>(start: &G, games: u64) -> (usize, usize) {
        let (mut positions, mut blunders) = (0, 0);
        for game in 0..games {
            let (mut random, mut position) = (fastrand::Rng::with_seed(game), start.clone());
            for _ in 0..60 {
                let moves = position.moves();
                if position.outcome().is_over() {
                    break;
                }
                let mv = best_static(&position).unwrap();
                let after = position.after(mv).outcome();
                let is_sound =
                    |mv: &G::Move| !loses(&position, *mv) && !position.after(*mv).outcome().is_over();
                if after == Outcome::Ongoing && loses(&position, mv) && moves.iter().any(is_sound) {
                    blunders += 1;
                }
                positions += 1;
                position.play(moves[random.usize(..moves.len())]);
            }
        }
        (positions, blunders)
    }

    #[test]
    fn no_game_loses_material_without_a_search() {
        for rules in [Rules::Imcs, Rules::Nthu2023, Rules::Nthu2026] {
            let (positions, blunders) = blunders(&MiniChess::start(rules), 60);
            assert!(positions > 500 && blunders == 0, "{rules:?}: {blunders} of {positions}");
        }
        for edition in tuc::Edition::ALL {
            let start = Tuc::start_by(tuc::Rules { edition, ..tuc::Rules::default() });
            let (positions, blunders) = blunders(&start, 40);
            assert!(positions > 500 && blunders == 0, "{edition:?}: {blunders} of {positions}");
        }
        let (positions, blunders) = blunders(&zeitnot_rules::chess::Chess::start(), 10);
        assert!(positions > 500 && blunders == 0, "chess: {blunders} of {positions}");
    }

    #[test]
    fn a_piece_that_hangs_is_saved_before_a_pawn_is_taken() {
        // The knight could take the pawn on d4, but the rook attacks the queen.
        let text = "k...r/...b./...p./...../..N.Q/K.... W";
        let position = MiniChess::parse(Rules::Imcs, text).unwrap();
        let mv = best_static(&position).unwrap();
        assert!(!loses(&position, mv), "{mv}");
        assert_eq!(hanging(&position.pass().unwrap()), 1000);
    }
}

//! Adjudication of games by the scores that both players report.

use zeitnot_rules::{Color, GameResult};
use zeitnot_wire::uci::UciScore;

use crate::ending::{Cause, Ending};

/// Usual maximum of moves of each side, as on Lichess.
pub const MAX_MOVES: u32 = 300;

/// When a game ends before its rules end it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjudication {
    /// As a draw by score.
    pub draw: Option<DrawRule>,
    /// As a win by score.
    pub resign: Option<ResignRule>,
    /// After this many moves of each side: as a draw, except where points decide.
    pub max_moves: Option<u32>,
}

/// A draw, if both players report even scores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// Moves of each side before it applies.
    pub move_number: u32,
    /// Consecutive moves of each side.
    pub move_count: u32,
    /// Largest distance from 0 in centipawns.
    pub score: u32,
}

/// A loss, if both players report it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// Consecutive moves of each side.
    pub move_count: u32,
    /// Smallest distance from 0 in centipawns.
    pub score: u32,
}

/// Evaluation that a player reports with its move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// Score for the mover.
    pub score: UciScore,
    /// Search depth in plies.
    pub depth: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Adjudicator {
    rules: Adjudication,
    /// Consecutive plies with an even score.
    even: u32,
    /// Consecutive plies with a winning score for this side.
    winning: Option<(Color, u32)>,
}

impl Adjudicator {
    pub(crate) fn new(rules: Adjudication) -> Adjudicator {
        Adjudicator { rules, even: 0, winning: None }
    }

    /// Records a move of one side, the nth of the game. A move without an opinion ends all runs. `so_far` is the result that
    /// the position gives to a game that is too long.
    pub(crate) fn record(
        &mut self,
        color: Color,
        opinion: Option<Opinion>,
        nth: usize,
        so_far: GameResult,
    ) -> Option<Ending> {
        let plies = u32::try_from(nth).unwrap_or(u32::MAX);
        let score = opinion.map(|opinion| centipawns(opinion.score));
        let Adjudication { draw, resign, max_moves } = self.rules;
        if let Some(DrawRule { move_number, move_count, score: limit }) = draw {
            let is_even = score.is_some_and(|score| score.unsigned_abs() <= limit);
            self.even = if is_even { self.even + 1 } else { 0 };
            if plies >= both(move_number) && self.even >= both(move_count) {
                return Some(Ending { result: Some(GameResult::Draw), cause: Cause::Adjudicated });
            }
        }
        if let Some(ResignRule { move_count, score: limit }) = resign {
            let leader = score.filter(|score| score.unsigned_abs() >= limit);
            let leader = leader.map(|score| if score > 0 { color } else { !color });
            let before =
                |leader| self.winning.filter(|(color, _)| *color == leader).map_or(0, |(_, run)| run);
            self.winning = leader.map(|leader| (leader, before(leader) + 1));
            if let Some((winner, run)) = self.winning
                && run >= both(move_count)
            {
                return Some(Ending { result: Some(GameResult::Won(winner)), cause: Cause::Adjudicated });
            }
        }
        let is_too_long = max_moves.is_some_and(|max_moves| plies >= both(max_moves));
        is_too_long.then_some(Ending { result: Some(so_far), cause: Cause::TooLong })
    }
}

/// Plies in which each side makes this many moves.
fn both(moves: u32) -> u32 {
    moves.saturating_mul(2)
}

fn centipawns(score: UciScore) -> i32 {
    match score {
        UciScore::Cp(cp) => cp,
        UciScore::Mate(moves) if moves > 0 => i32::MAX,
        UciScore::Mate(_) => -i32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ply at which it ends, counted from 1, and how; the scores are those of the mover, White first.
    fn ends(rules: Adjudication, scores: &[Option<UciScore>]) -> Option<(usize, Ending)> {
        let mut adjudicator = Adjudicator::new(rules);
        scores.iter().enumerate().find_map(|(ply, score)| {
            let opinion = score.map(|score| Opinion { score, depth: 9 });
            let ending = adjudicator.record(Color::BOTH[ply % 2], opinion, ply + 1, GameResult::Draw);
            ending.map(|ending| (ply + 1, ending))
        })
    }

    fn cp(scores: &[i32]) -> Vec<Option<UciScore>> {
        scores.iter().map(|&cp| Some(UciScore::Cp(cp))).collect()
    }

    #[test]
    fn a_draw_needs_enough_even_scores_of_both() {
        let draw = Some(DrawRule { move_number: 3, move_count: 2, score: 10 });
        let rules = Adjudication { draw, ..Adjudication::default() };
        let draw = Ending { result: Some(GameResult::Draw), cause: Cause::Adjudicated };
        assert_eq!(ends(rules, &cp(&[0; 9])), Some((6, draw)), "not before the third move");
        assert_eq!(ends(rules, &cp(&[0, 0, 0, 0, 11, 10, -10, 0, 0])), Some((9, draw)));
        let mut silent = cp(&[0; 9]);
        silent[5] = None;
        assert_eq!(ends(rules, &silent), None, "three in a row are left");
    }

    #[test]
    fn both_have_to_see_the_same_side_win() {
        let resign = Some(ResignRule { move_count: 2, score: 500 });
        let rules = Adjudication { resign, ..Adjudication::default() };
        let won = |color| Ending { result: Some(GameResult::Won(color)), cause: Cause::Adjudicated };
        assert_eq!(ends(rules, &cp(&[500, -500, 500, -500])), Some((4, won(Color::White))));
        assert_eq!(ends(rules, &cp(&[-600, 700, -600, 700])), Some((4, won(Color::Black))));
        assert_eq!(ends(rules, &cp(&[600, 600, 600, 600, 600])), None, "each sees itself win");
        assert_eq!(ends(rules, &cp(&[600, -600, 600, -499, 600, -600, 600])), None);
        let mate = [UciScore::Mate(3), UciScore::Mate(-2), UciScore::Mate(2), UciScore::Mate(-1)].map(Some);
        assert_eq!(ends(rules, &mate), Some((4, won(Color::White))));
        let mated = [UciScore::Mate(1), UciScore::Mate(0)].map(Some);
        assert_eq!(ends(rules, &[mated, mated].concat()), Some((4, won(Color::White))));
    }

    #[test]
    fn nothing_ends_by_itself_and_the_longest_is_a_draw() {
        assert_eq!(ends(Adjudication::default(), &cp(&[0; 1000])), None);
        let rules = Adjudication { max_moves: Some(50), ..Adjudication::default() };
        let draw = Ending { result: Some(GameResult::Draw), cause: Cause::TooLong };
        assert_eq!(ends(rules, &cp(&[300; 1000])), Some((100, draw)));
    }
}

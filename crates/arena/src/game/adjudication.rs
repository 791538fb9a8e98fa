//! Games that end by what both players think of them: as people agree to draws, and resign.

use zeitnot_rules::{Color, GameResult};
use zeitnot_wire::uci::UciScore;

use super::{Cause, Ending, Opinion};

/// When a game ends before its rules end it; by itself it does not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjudication {
    /// As a draw that both see.
    pub drawn: Option<Drawn>,
    /// As a win that both see.
    pub resigned: Option<Resigned>,
    /// As a draw, when each side has played so many moves.
    pub longest: Option<u32>,
}

/// A draw, if both players have thought so in each of their last `moves` moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Not before each side has played so many.
    pub from: u32,
    /// In a row, of each side.
    pub moves: u32,
    /// No further from even than this, in centipawns.
    pub within: u32,
}

/// Lost, if both players have thought so in each of their last `moves` moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Resigned {
    /// In a row, of each side.
    pub moves: u32,
    /// At least so far behind, in centipawns.
    pub behind: u32,
}

/// Counts what the players of one game have thought.
#[derive(Debug)]
pub(super) struct Judge {
    rules: Adjudication,
    plies: u32,
    /// Plies in a row whose mover saw the game even.
    even: u32,
    /// Plies in a row whose mover saw this side win.
    winning: Option<(Color, u32)>,
}

impl Judge {
    pub fn new(rules: Adjudication) -> Judge {
        Judge { rules, plies: 0, even: 0, winning: None }
    }

    /// This side has moved, and thinks so of it. A move without an opinion breaks every row.
    pub fn hear(&mut self, side: Color, opinion: Option<Opinion>) -> Option<Ending> {
        self.plies = self.plies.saturating_add(1);
        let score = opinion.map(|opinion| centipawns(opinion.score));
        let Adjudication { drawn, resigned, longest } = self.rules;
        if let Some(Drawn { from, moves, within }) = drawn {
            let is_even = score.is_some_and(|score| score.unsigned_abs() <= within);
            self.even = if is_even { self.even + 1 } else { 0 };
            if self.plies >= both(from) && self.even >= both(moves) {
                return Some(Ending { result: Some(GameResult::Draw), cause: Cause::Adjudicated });
            }
        }
        if let Some(Resigned { moves, behind }) = resigned {
            let leader = score.filter(|score| score.unsigned_abs() >= behind);
            let leader = leader.map(|score| if score > 0 { side } else { !side });
            let before =
                |leader| self.winning.filter(|(side, _)| *side == leader).map_or(0, |(_, plies)| plies);
            self.winning = leader.map(|leader| (leader, before(leader) + 1));
            if let Some((winner, plies)) = self.winning
                && plies >= both(moves)
            {
                return Some(Ending { result: Some(GameResult::Won(winner)), cause: Cause::Adjudicated });
            }
        }
        let is_too_long = longest.is_some_and(|longest| self.plies >= both(longest));
        is_too_long.then_some(Ending { result: Some(GameResult::Draw), cause: Cause::TooLong })
    }
}

/// Plies in which each side plays so many moves.
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
        let mut judge = Judge::new(rules);
        scores.iter().enumerate().find_map(|(ply, score)| {
            let opinion = score.map(|score| Opinion { score, depth: 9 });
            judge.hear(Color::BOTH[ply % 2], opinion).map(|ending| (ply + 1, ending))
        })
    }

    fn cp(scores: &[i32]) -> Vec<Option<UciScore>> {
        scores.iter().map(|&cp| Some(UciScore::Cp(cp))).collect()
    }

    #[test]
    fn both_have_to_see_the_draw_for_so_many_moves() {
        let rules =
            Adjudication { drawn: Some(Drawn { from: 3, moves: 2, within: 10 }), ..Adjudication::default() };
        let draw = Ending { result: Some(GameResult::Draw), cause: Cause::Adjudicated };
        assert_eq!(ends(rules, &cp(&[0; 9])), Some((6, draw)), "not before the third move");
        assert_eq!(ends(rules, &cp(&[0, 0, 0, 0, 11, 10, -10, 0, 0])), Some((9, draw)));
        let mut silent = cp(&[0; 9]);
        silent[5] = None;
        assert_eq!(ends(rules, &silent), None, "three in a row are left");
    }

    #[test]
    fn both_have_to_see_the_same_side_win() {
        let rules =
            Adjudication { resigned: Some(Resigned { moves: 2, behind: 500 }), ..Adjudication::default() };
        let won = |side| Ending { result: Some(GameResult::Won(side)), cause: Cause::Adjudicated };
        assert_eq!(ends(rules, &cp(&[500, -500, 500, -500])), Some((4, won(Color::White))));
        assert_eq!(ends(rules, &cp(&[-600, 700, -600, 700])), Some((4, won(Color::Black))));
        assert_eq!(ends(rules, &cp(&[600, 600, 600, 600, 600])), None, "each sees itself win");
        assert_eq!(ends(rules, &cp(&[600, -600, 600, -499, 600, -600, 600])), None);
        let mate = [UciScore::Mate(3), UciScore::Mate(-2), UciScore::Mate(2), UciScore::Mate(-1)].map(Some);
        assert_eq!(ends(rules, &mate), Some((4, won(Color::White))));
    }

    #[test]
    fn nothing_ends_by_itself_and_the_longest_is_a_draw() {
        assert_eq!(ends(Adjudication::default(), &cp(&[0; 1000])), None);
        let rules = Adjudication { longest: Some(50), ..Adjudication::default() };
        let draw = Ending { result: Some(GameResult::Draw), cause: Cause::TooLong };
        assert_eq!(ends(rules, &cp(&[300; 1000])), Some((100, draw)));
    }
}

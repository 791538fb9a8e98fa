//! Evaluation of MiniChess: material by squares, and the lead where a count decides soon.

use zeitnot_rules::{
    Color, Game, Tactics,
    minichess::{Kind, MiniChess, Move, ROWS, SQUARES, Square},
};

use super::{Evaluator, chess::tapered_score::TaperedScore};
use crate::Score;

mod weights;

/// Weight of the pieces in the phase of the game, by [`Kind`]: the values of the courses.
const PHASE: [i32; 6] = [0, 6, 7, 8, 20, 0];
/// Phase at the start, where middlegame scores count alone.
const FULL_PHASE: i32 = 2 * (6 + 7 + 8 + 20);
/// Bonus for a lead by the count that decides at the end, by the plies left in units of [`COUNT_STEP`].
const COUNT_LEAD: [i32; 6] = [90, 90, 72, 55, 50, 40];
const COUNT_STEP: u32 = 4;
/// Bonus for the side to move.
const TEMPO: i32 = 8;

/// Evaluator of all kinds of MiniChess.
#[derive(Copy, Clone, Debug, Default)]
pub struct MiniChessEval;

/// Sums over the pieces on the board.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// White's lead.
    lead: TaperedScore,
    phase: i32,
}

impl Sums {
    fn put(&mut self, square: Square, side: Color, kind: Kind) {
        self.lead += signed_value(square, side, kind);
        self.phase += PHASE[kind as usize];
    }

    fn take(&mut self, square: Square, side: Color, kind: Kind) {
        self.lead -= signed_value(square, side, kind);
        self.phase -= PHASE[kind as usize];
    }

    /// White's lead in centipawns.
    fn tapered(self) -> i32 {
        let phase = self.phase.min(FULL_PHASE);
        (self.lead.middlegame() * phase + self.lead.endgame() * (FULL_PHASE - phase)) / FULL_PHASE
    }
}

/// The value of a piece, negative for Black, whose side of the board is White's turned by half a circle.
fn signed_value(square: Square, side: Color, kind: Kind) -> TaperedScore {
    let values = &weights::SQUARES[kind as usize];
    match side {
        Color::White => values[square.index()],
        Color::Black => values[SQUARES - 1 - square.index()] * -1,
    }
}

/// Bonus of White for a lead, if a count decides soon.
fn count_lead(position: &MiniChess) -> i32 {
    let left = position.plies_left().unwrap_or(u32::MAX);
    match COUNT_LEAD.get((left / COUNT_STEP) as usize) {
        Some(bonus) => bonus * position.balance().signum(),
        None => 0,
    }
}

impl Evaluator<MiniChess> for MiniChessEval {
    type State = Sums;

    fn refresh(&mut self, position: &MiniChess) -> Sums {
        let mut sums = Sums::default();
        for (square, side, kind) in position.board().pieces() {
            sums.put(square, side, kind);
        }
        sums
    }

    fn update(&mut self, sums: &Sums, before: &MiniChess, mv: Move) -> Sums {
        let (mut sums, board) = (*sums, before.board());
        let Some((side, kind)) = board.piece_at(mv.from) else { return sums };
        if let Some((other, captured)) = board.piece_at(mv.to) {
            sums.take(mv.to, other, captured);
        }
        let last_row = if side == Color::White { ROWS - 1 } else { 0 };
        let promotes = kind == Kind::Pawn && mv.to.row() == last_row;
        sums.take(mv.from, side, kind);
        sums.put(mv.to, side, if promotes { Kind::Queen } else { kind });
        sums
    }

    fn evaluate(&mut self, sums: &Sums, position: &MiniChess) -> Score {
        let white = sums.tapered() + count_lead(position);
        Score::cp(if position.side_to_move() == Color::White { white } else { -white } + TEMPO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::minichess::Rules;

    fn score(rules: Rules, text: &str) -> Score {
        let position = MiniChess::parse(rules, text).unwrap();
        MiniChessEval.evaluate(&MiniChessEval.refresh(&position), &position)
    }

    #[test]
    fn both_sides_see_the_same_and_a_queen_counts() {
        let score = |text| score(Rules::Imcs, text);
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK W 1"), Score::cp(TEMPO));
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK B 1"), Score::cp(TEMPO));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK W 1") > Score::cp(800));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK B 1") < Score::cp(-800));
    }

    #[test]
    fn a_lead_counts_for_more_where_it_decides_soon() {
        let at =
            |rules, number: u16| score(rules, &format!("kqbnr/.pppp/...../...../PPPPP/RNBQK W {number}"));
        assert!(at(Rules::Nthu2026, 48) > at(Rules::Nthu2026, 41));
        assert!(at(Rules::Nthu2026, 41) > at(Rules::Nthu2026, 20));
        assert_eq!(at(Rules::Imcs, 39), at(Rules::Imcs, 10), "that count is a draw");
    }

    #[test]
    fn sums_follow_the_moves() {
        for game in 0..200 {
            let (mut random, mut position) = (fastrand::Rng::with_seed(game), MiniChess::start(Rules::Imcs));
            let mut sums = MiniChessEval.refresh(&position);
            while !position.outcome().is_over() {
                let moves = position.moves();
                let mv = moves[random.usize(..moves.len())];
                sums = MiniChessEval.update(&sums, &position, mv);
                position.play(mv);
                assert_eq!(sums, MiniChessEval.refresh(&position));
            }
        }
    }
}

//! Evaluation of TUC-Chess: points scored, and points in prospect.

use zeitnot_rules::{
    Color,
    tuc::{Kind, Move, ROWS, Square, Tuc},
};

use super::Evaluator;
use crate::Score;

/// Piece values by [`Kind`], in hundredths of a point: what it may score, and what its capture brings.
const PIECE_VALUES: [i32; 3] = [60, 200, 0];
/// Bonus of a pawn by the rows to the last one, where it scores a point.
const NEAR_THE_END: [i32; ROWS] = [0, 60, 35, 20, 10, 0, 0];
/// Bonus for each square that a rook reaches.
const ROOK_REACH: i32 = 4;
/// Bonus for each prize that a piece reaches with one move, by [`Kind`].
const PRIZE_REACH: [i32; 3] = [25, 20, 15];
/// Bonus for each own piece beside the king.
const SHELTER: i32 = 8;
/// Bonus for the side to move.
const TEMPO: i32 = 15;

/// Evaluator of TUC-Chess.
#[derive(Copy, Clone, Debug, Default)]
pub struct TucEval;

fn piece_value(position: &Tuc, square: Square, side: Color, kind: Kind) -> i32 {
    let reach = position.reach(square, kind, side);
    let prizes = (reach & position.prizes()).count_ones() as i32 * PRIZE_REACH[kind as usize];
    let place = match kind {
        Kind::Pawn => {
            let to_go = if side == Color::White { square.row() } else { ROWS - 1 - square.row() };
            NEAR_THE_END[to_go]
        }
        Kind::Rook => ROOK_REACH * reach.count_ones() as i32,
        Kind::King => SHELTER * (reach & position.board().color(side)).count_ones() as i32,
    };
    PIECE_VALUES[kind as usize] + place + prizes
}

impl Evaluator<Tuc> for TucEval {
    type State = ();

    fn refresh(&mut self, _: &Tuc) {}

    fn update(&mut self, (): &(), _: &Tuc, _: Move) {}

    fn evaluate(&mut self, (): &(), position: &Tuc) -> Score {
        let us = zeitnot_rules::Game::side_to_move(position);
        let potential: i32 = position
            .board()
            .pieces()
            .map(|(at, side, kind)| {
                if side == us {
                    piece_value(position, at, side, kind)
                } else {
                    -piece_value(position, at, side, kind)
                }
            })
            .sum();
        Score::cp(position.lead() + potential + TEMPO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_the_same_and_points_count() {
        let score = |text: &str| TucEval.evaluate(&(), &Tuc::parse(text).unwrap());
        let start = "prkrp/ppppp/...../*****/...../PPPPP/PRKRP";
        assert_eq!(score(&format!("{start} w 0-0 20 0 2021")), Score::cp(TEMPO));
        assert_eq!(score(&format!("{start} b 0-0 20 0 2021")), Score::cp(TEMPO));
        assert_eq!(score(&format!("{start} w 500-200 20 0 2021")), Score::cp(TEMPO + 300));
        assert_eq!(score(&format!("{start} b 500-200 20 0 2021")), Score::cp(TEMPO - 300));
    }
}

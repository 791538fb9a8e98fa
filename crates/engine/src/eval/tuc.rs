//! TUC-Chess by points: those that were made, and those that are in the air.

use zeitnot_rules::{
    Color,
    tuc::{Board, Kind, Move, ROWS, Square, Tuc},
};

use super::Evaluator;
use crate::Score;

/// What a man brings on the average, by [`Kind`], in hundredths of a point: it makes points, and can be taken.
const WORTH: [i32; 3] = [60, 200, 0];
/// For a pawn, by the rows it still has to go: a point waits at the end.
const NEAR_THE_END: [i32; ROWS] = [0, 60, 35, 20, 10, 0, 0];
/// For each square that a rook reaches.
const ROOK_REACH: i32 = 4;
/// For a prize that a man reaches with one move, by [`Kind`]; others may come first.
const PRIZE: [i32; 3] = [25, 20, 15];
/// For the king, for each man of ours beside it.
const SHELTER: i32 = 8;
/// What it is worth to be on the move.
const TEMPO: i32 = 15;

/// Judges TUC-Chess.
#[derive(Copy, Clone, Debug, Default)]
pub struct TucEval;

fn placed(board: &Board, square: Square, side: Color, kind: Kind) -> i32 {
    let reach = board.reach(square, kind, side);
    let prizes = (reach & board.prizes()).count_ones() as i32 * PRIZE[kind as usize];
    let place = match kind {
        Kind::Pawn => {
            let to_go = if side == Color::White { square.row() } else { ROWS - 1 - square.row() };
            NEAR_THE_END[to_go]
        }
        Kind::Rook => ROOK_REACH * reach.count_ones() as i32,
        Kind::King => SHELTER * (reach & board.side(side)).count_ones() as i32,
    };
    WORTH[kind as usize] + place + prizes
}

impl Evaluator<Tuc> for TucEval {
    type State = ();

    fn root(&self, _: &Tuc) {}

    fn step(&self, (): &(), _: &Tuc, _: Move) {}

    fn score(&self, (): &(), position: &Tuc) -> Score {
        let board = position.board();
        let us = zeitnot_rules::Game::side(position);
        let air: i32 = board
            .men()
            .map(
                |(at, side, kind)| {
                    if side == us { placed(board, at, side, kind) } else { -placed(board, at, side, kind) }
                },
            )
            .sum();
        Score::cp(position.lead() + air + TEMPO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::Game;

    #[test]
    fn both_sides_see_the_same_and_points_count() {
        let score = |text: &str| TucEval.score(&(), &Tuc::parse(text).unwrap());
        let start = "prkrp/ppppp/...../*****/...../PPPPP/PRKRP";
        assert_eq!(score(&format!("{start} w 0-0 20 0 2021")), Score::cp(TEMPO));
        assert_eq!(score(&format!("{start} b 0-0 20 0 2021")), Score::cp(TEMPO));
        assert_eq!(score(&format!("{start} w 500-200 20 0 2021")), Score::cp(TEMPO + 300));
        assert_eq!(score(&format!("{start} b 500-200 20 0 2021")), Score::cp(TEMPO - 300));
    }
}

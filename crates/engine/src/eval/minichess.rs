//! Evaluation of MiniChess: material, squares and mobility.

use zeitnot_rules::{
    Color, Tactics,
    minichess::{Board, COLUMNS, Kind, MiniChess, Move, ROWS, Square},
};

use super::Evaluator;
use crate::Score;

/// Piece values by [`Kind`], in centipawns: those of the courses, scaled to a pawn of 100.
const PIECE_VALUES: [i32; 6] = [100, 300, 350, 400, 1000, 0];
/// Bonus for each square that a piece reaches, by [`Kind`].
const MOBILITY: [i32; 6] = [0, 3, 4, 5, 2, 0];
/// Bonus of a pawn by its relative row.
const ADVANCED: [i32; ROWS] = [0, 0, 8, 20, 55, 0];
/// Bonus of a knight by its distance from the edge files.
const CENTRAL: [i32; 3] = [0, 8, 12];
/// Penalty of a king for each row that it has left its own.
const KING_ADVANCE: i32 = 10;
/// Penalty of the side to move for being in check.
const CHECK: i32 = 20;
/// Bonus for the side to move.
const TEMPO: i32 = 10;

/// Evaluator of all kinds of MiniChess.
#[derive(Copy, Clone, Debug, Default)]
pub struct MiniChessEval;

fn piece_value(board: &Board, square: Square, side: Color, kind: Kind) -> i32 {
    let row = if side == Color::White { square.row() } else { ROWS - 1 - square.row() };
    let place = match kind {
        Kind::Pawn => ADVANCED[row],
        Kind::Knight => CENTRAL[square.column().min(COLUMNS - 1 - square.column())],
        Kind::King => -KING_ADVANCE * row as i32,
        Kind::Rook | Kind::Bishop | Kind::Queen => 0,
    };
    let reached = (board.reach(square, kind, side, 0) & !board.color(side)).count_ones() as i32;
    PIECE_VALUES[kind as usize] + place + MOBILITY[kind as usize] * reached
}

impl Evaluator<MiniChess> for MiniChessEval {
    type State = ();

    fn refresh(&self, _: &MiniChess) {}

    fn update(&self, (): &(), _: &MiniChess, _: Move) {}

    fn evaluate(&self, (): &(), position: &MiniChess) -> Score {
        let board = position.board();
        let sum =
            |side| board.pieces_of(side).map(|(at, kind)| piece_value(board, at, side, kind)).sum::<i32>();
        let us = zeitnot_rules::Game::side_to_move(position);
        let threatened = if position.is_check() { -CHECK } else { 0 };
        Score::cp(sum(us) - sum(!us) + TEMPO + threatened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::minichess::Rules;

    #[test]
    fn both_sides_see_the_same_and_a_queen_counts() {
        let score = |text: &str| MiniChessEval.evaluate(&(), &MiniChess::parse(Rules::Imcs, text).unwrap());
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK W 1"), Score::cp(TEMPO));
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK B 1"), Score::cp(TEMPO));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK W 1") > Score::cp(800));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK B 1") < Score::cp(-800));
    }
}

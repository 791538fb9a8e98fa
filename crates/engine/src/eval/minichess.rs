//! MiniChess by material, squares and mobility.

use zeitnot_rules::{
    Color, Tactics,
    minichess::{Board, COLUMNS, Kind, MiniChess, Move, ROWS, Rules, Square},
};

use super::Evaluator;
use crate::Score;

/// In centipawns, by [`Kind`]: the courses' count, halved to a pawn of one. Kings cancel out.
const WORTH: [i32; 6] = [100, 300, 350, 400, 1000, 0];
/// For each square that a man reaches, by [`Kind`].
const MOBILITY: [i32; 6] = [0, 3, 4, 5, 2, 0];
/// For a pawn, by the rows it has come.
const ADVANCED: [i32; ROWS] = [0, 0, 8, 20, 55, 0];
/// For a knight or a king, by its distance from the middle: on the edge, one off it, in the middle file.
const CENTRAL: [i32; 3] = [0, 8, 12];
/// What it is worth to be on the move.
const TEMPO: i32 = 10;

/// Judges every kind of MiniChess.
#[derive(Copy, Clone, Debug, Default)]
pub struct MiniChessEval;

fn placed(board: &Board, square: Square, side: Color, kind: Kind) -> i32 {
    let row = if side == Color::White { square.row() } else { ROWS - 1 - square.row() };
    let place = match kind {
        Kind::Pawn => ADVANCED[row],
        Kind::Knight => CENTRAL[square.column().min(COLUMNS - 1 - square.column())],
        // At home as long as it pays to hunt for it.
        Kind::King => -10 * row as i32,
        Kind::Rook | Kind::Bishop | Kind::Queen => 0,
    };
    let reached = (board.reach(square, kind, side) & !board.side(side)).count_ones() as i32;
    WORTH[kind as usize] + place + MOBILITY[kind as usize] * reached
}

impl<R: Rules> Evaluator<MiniChess<R>> for MiniChessEval {
    type State = ();

    fn root(&self, _: &MiniChess<R>) {}

    fn step(&self, (): &(), _: &MiniChess<R>, _: Move) {}

    fn score(&self, (): &(), position: &MiniChess<R>) -> Score {
        let board = position.board();
        let sum = |side| board.men(side).map(|(at, kind)| placed(board, at, side, kind)).sum::<i32>();
        let us = zeitnot_rules::Game::side(position);
        let threatened = if position.is_check() { -20 } else { 0 };
        Score::cp(sum(us) - sum(!us) + TEMPO + threatened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, minichess::Imcs};

    #[test]
    fn both_sides_see_the_same_and_a_queen_counts() {
        let score = |text: &str| MiniChessEval.score(&(), &Imcs::parse(text).unwrap());
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK W 1"), Score::cp(TEMPO));
        assert_eq!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK B 1"), Score::cp(TEMPO));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK W 1") > Score::cp(800));
        assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK B 1") < Score::cp(-800));
    }
}

//! Chess by material and piece-square tables, tapered from the middlegame to the endgame.

use shakmaty::{Color, Move, Piece, Role, Square};

use super::{Evaluator, tables};
use crate::{
    engine::Score,
    game::chess::{Change, Change::Taken, Chess},
};

/// The sums of a position, seen from White.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    middlegame: i16,
    endgame: i16,
    /// How many officers are left, weighted: 24 at the start, 0 with pawns and kings alone.
    phase: i16,
}

/// The phase at the start of a game; promotions can lift it above.
pub(super) const FULL_PHASE: i32 = 24;

/// What it is worth to be on the move.
pub(super) const TEMPO: i32 = 10;

impl Sums {
    fn apply(&mut self, change: Change, square: Square, piece: Piece) {
        let (middlegame, endgame) = tables::worth(piece.role, relative(square, piece.color));
        let sign = piece.color.fold_wb(1, -1) * if change == Taken { -1 } else { 1 };
        self.middlegame += sign * middlegame;
        self.endgame += sign * endgame;
        self.phase += phase(piece.role) * if change == Taken { -1 } else { 1 };
    }
}

/// The square as the piece's own side sees it, from its first rank.
pub(super) fn relative(square: Square, color: Color) -> Square {
    color.fold_wb(square, square.flip_vertical())
}

pub(super) fn phase(role: Role) -> i16 {
    match role {
        Role::Pawn | Role::King => 0,
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
    }
}

/// Material and piece-square tables.
#[derive(Copy, Clone, Debug, Default)]
pub struct PieceSquares;

impl Evaluator<Chess> for PieceSquares {
    type State = Sums;

    fn root(&self, position: &Chess) -> Sums {
        let mut sums = Sums::default();
        for (square, piece) in position.board() {
            sums.apply(Change::Put, square, piece);
        }
        sums
    }

    fn step(&self, state: &Sums, before: &Chess, mv: Move) -> Sums {
        let mut sums = *state;
        before.changes(mv, |change, square, piece| sums.apply(change, square, piece));
        sums
    }

    fn score(&self, state: &Sums, position: &Chess) -> Score {
        let phase = i32::from(state.phase).min(FULL_PHASE);
        let tapered = (i32::from(state.middlegame) * phase + i32::from(state.endgame) * (FULL_PHASE - phase))
            / FULL_PHASE;
        Score::cp(position.turn().fold_wb(tapered, -tapered) + TEMPO)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::game::Game;

    proptest! {
        #[test]
        fn sums_kept_with_the_move_are_the_sums_of_the_board(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..150)) {
            let mut position = Chess::parse("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1").unwrap();
            let mut sums = PieceSquares.root(&position);
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                let mv = moves[choice.index(moves.len())];
                sums = PieceSquares.step(&sums, &position, mv);
                position.play(mv);
                prop_assert_eq!(sums, PieceSquares.root(&position));
            }
        }
    }

    #[test]
    fn both_sides_see_the_same() {
        for (white, black) in [
            (
                "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
                "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR b KQkq - 2 3",
            ),
            ("8/8/4k3/8/2P5/8/4K3/8 w - - 0 1", "8/4k3/8/2p5/8/4K3/8/8 b - - 0 1"),
        ] {
            let score = |fen| {
                let position = Chess::parse(fen).unwrap();
                PieceSquares.score(&PieceSquares.root(&position), &position)
            };
            assert_eq!(score(white), score(black));
        }
    }
}

//! Evaluation of MiniChess by hand: material by squares.

use zeitnot_rules::{
    Color, Game,
    minichess::{Kind, MiniChess, Move, ROWS, SQUARES, Square},
};

use super::weights;
use crate::eval::chess::tapered_score::TaperedScore;

/// Weight of the pieces in the phase of the game, by [`Kind`]: the values of the courses.
const PHASE: [i32; 6] = [0, 6, 7, 8, 20, 0];
/// Phase at the start, where middlegame scores count alone.
const FULL_PHASE: i32 = 2 * (6 + 7 + 8 + 20);
/// Bonus for the side to move.
const TEMPO: i32 = 8;

/// Sums over the pieces on the board.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
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

impl Sums {
    pub(super) fn of(position: &MiniChess) -> Sums {
        let mut sums = Sums::default();
        for (square, side, kind) in position.board().pieces() {
            sums.put(square, side, kind);
        }
        sums
    }

    /// The sums after a move.
    pub(super) fn after(mut self, before: &MiniChess, mv: Move) -> Sums {
        let board = before.board();
        let Some((side, kind)) = board.piece_at(mv.from) else { return self };
        if let Some((other, captured)) = board.piece_at(mv.to) {
            self.take(mv.to, other, captured);
        }
        let last_row = if side == Color::White { ROWS - 1 } else { 0 };
        let promotes = kind == Kind::Pawn && mv.to.row() == last_row;
        self.take(mv.from, side, kind);
        self.put(mv.to, side, if promotes { Kind::Queen } else { kind });
        self
    }

    /// Centipawns for the side to move.
    pub(super) fn evaluate(self, position: &MiniChess) -> i32 {
        let white = self.tapered();
        TEMPO + if position.side_to_move() == Color::White { white } else { -white }
    }
}

//! Inputs of the small net of TUC-Chess: pieces, prizes, the lead in points, and the count that ends the game.

use zeitnot_rules::{
    Color,
    tuc::{Kind, Move, POINT, ROWS, SQUARES, Square, Tuc},
};

use crate::eval::small_net::{BUCKETS, NetInputs, Placed};

/// Leads that are told apart, up to this many points either way.
const MAX_LEAD: i32 = 20;
const LEADS: usize = 2 * MAX_LEAD as usize + 1;
/// Counts of pieces that the game goes on with, and the one that ends it: 2 to 20.
const MIN_COUNT: usize = 2;
const COUNTS: usize = 19;

fn piece(side: Color, kind: Kind, at: Square) -> Placed {
    Placed { owner: Some(side), kind: kind as usize, square: at.index() }
}

fn prize(square: usize) -> Placed {
    Placed { owner: None, kind: 0, square }
}

/// The lead of a side, to the nearest whole point: prizes count at what they are expected to be worth.
fn lead(position: &Tuc, view: Color) -> i32 {
    let points = position.points();
    let lead = points[view] - points[!view];
    (lead + lead.signum() * POINT / 2) / POINT
}

impl NetInputs for Tuc {
    const KINDS: usize = 3;
    const PRIZE_KINDS: usize = 1;
    const SQUARES: usize = SQUARES;
    const FACTS: usize = LEADS + COUNTS;

    fn placed(&self, mut visit: impl FnMut(Placed)) {
        for (square, side, kind) in self.board().pieces() {
            visit(piece(side, kind, square));
        }
        (0..SQUARES)
            .filter(|square| self.prizes() >> square & 1 != 0)
            .for_each(|square| visit(prize(square)));
    }

    fn changes(&self, mv: Move, mut change: impl FnMut(Placed, bool)) {
        let Some((side, kind)) = self.board().piece_at(mv.from) else { return };
        if let Some((other, captured)) = self.board().piece_at(mv.to) {
            change(piece(other, captured, mv.to), false);
        }
        if self.takes_prize(mv) {
            change(prize(mv.to.index()), false);
        }
        change(piece(side, kind, mv.from), false);
        // White moves up to row 0.
        let last_row = if side == Color::White { 0 } else { ROWS - 1 };
        if kind != Kind::Pawn || mv.to.row() != last_row {
            change(piece(side, kind, mv.to), true);
        }
    }

    fn facts(&self, mut visit: impl FnMut([usize; 2])) {
        let count = usize::from(self.piece_count()).clamp(MIN_COUNT, MIN_COUNT + COUNTS - 1) - MIN_COUNT;
        visit(Color::BOTH.map(|view| (lead(self, view).clamp(-MAX_LEAD, MAX_LEAD) + MAX_LEAD) as usize));
        visit([LEADS + count; 2]);
    }

    /// By the pieces on the board.
    fn bucket(&self) -> usize {
        let pieces = self.board().occupied().count_ones() as usize;
        (pieces.saturating_sub(MIN_COUNT) * BUCKETS / COUNTS).min(BUCKETS - 1)
    }
}

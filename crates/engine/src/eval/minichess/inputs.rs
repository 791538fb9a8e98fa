//! Inputs of the small net of MiniChess: the pieces, the plies left, and the lead in the count that decides then.

use zeitnot_rules::{
    Color, Tactics,
    minichess::{Kind, MiniChess, Move, ROWS, SQUARES, Square},
};

use crate::eval::small_net::{NetInputs, Placed};

/// Plies left to the end of the game that are told apart: exactly at first, then by 2, 8 and 16.
const PLIES_LEFT: usize = 31;
/// Leads in the count that decides at the end, up to this many points of it either way.
const MAX_BALANCE: i32 = 20;

/// The fact that so many plies are left.
fn plies_left(left: usize) -> usize {
    match left {
        0..16 => left,
        16..32 => 16 + (left - 16) / 2,
        32..64 => 24 + (left - 32) / 8,
        _ => (28 + (left - 64) / 16).min(PLIES_LEFT - 1),
    }
}

fn left(position: &MiniChess) -> usize {
    position.plies_left().map_or(usize::MAX, |left| left as usize)
}

impl NetInputs for MiniChess {
    const KINDS: usize = 6;
    const SQUARES: usize = SQUARES;
    const FACTS: usize = PLIES_LEFT + 2 * MAX_BALANCE as usize + 1;

    fn placed(&self, mut visit: impl FnMut(Placed)) {
        for (square, side, kind) in self.board().pieces() {
            visit(Placed { owner: Some(side), kind: kind as usize, square: square.index() });
        }
    }

    fn changes(&self, mv: Move, mut change: impl FnMut(Placed, bool)) {
        let Some((side, kind)) = self.board().piece_at(mv.from) else { return };
        let placed =
            |side, kind, at: Square| Placed { owner: Some(side), kind: kind as usize, square: at.index() };
        if let Some((other, captured)) = self.board().piece_at(mv.to) {
            change(placed(other, captured, mv.to), false);
        }
        let last_row = if side == Color::White { ROWS - 1 } else { 0 };
        let promotes = kind == Kind::Pawn && mv.to.row() == last_row;
        change(placed(side, kind, mv.from), false);
        change(placed(side, if promotes { Kind::Queen } else { kind }, mv.to), true);
    }

    fn facts(&self, mut visit: impl FnMut([usize; 2])) {
        let white = self.balance();
        let balance = |own: i32| (own.clamp(-MAX_BALANCE, MAX_BALANCE) + MAX_BALANCE) as usize;
        visit([plies_left(left(self)); 2]);
        visit([white, -white].map(|own| PLIES_LEFT + balance(own)));
    }

    /// By the plies left where the end is near, else by the pieces.
    fn bucket(&self) -> usize {
        match left(self) {
            0..6 => 0,
            6..12 => 1,
            12..20 => 2,
            20..32 => 3,
            _ => match self.board().occupied().count_ones() {
                ..=8 => 4,
                9..=12 => 5,
                13..=16 => 6,
                _ => 7,
            },
        }
    }
}

//! Inputs of the small nets of chess variants: the pieces on the board and in hand, and the checks still to give.

use shakmaty::{ByColor, Piece, Position, Role, Square};
use zeitnot_rules::{
    Color, Game, Tactics,
    chess::{Change, Crazyhouse, ThreeCheck, VariantPosition},
};

use crate::eval::small_net::{BUCKETS, NetInputs, Placed};

/// Pieces of a kind in a hand that are told apart: the first, the second, and so on.
const IN_HAND: usize = 8;
/// Kinds of pieces that can be in a hand.
const HELD_KINDS: usize = 5;
/// Facts about a hand.
const HAND: usize = HELD_KINDS * IN_HAND;
/// Numbers of checks to give: 0 to 3.
const CHECKS: usize = 4;

fn placed(columns: usize, square: Square, piece: Piece) -> Placed {
    let (file, rank) = square.coords();
    let square = rank as usize * columns + file as usize;
    Placed { owner: Some(piece.color.into()), kind: piece.role as usize - 1, square }
}

/// Facts about the pieces in hand: one for each piece.
fn hands(position: &Crazyhouse, mut visit: impl FnMut([usize; 2])) {
    let Some(hands) = position.position().pockets() else { return };
    for (hand, places) in [(hands.white, [0, HAND]), (hands.black, [HAND, 0])] {
        for (kind, held) in
            [hand.pawn, hand.knight, hand.bishop, hand.rook, hand.queen].into_iter().enumerate()
        {
            for nth in 0..usize::from(held).min(IN_HAND) {
                visit(places.map(|place| place + kind * IN_HAND + nth));
            }
        }
    }
}

/// Facts about the checks that each side has to give.
fn checks(position: &ThreeCheck, mut visit: impl FnMut([usize; 2])) {
    let Some(left) = position.position().remaining_checks() else { return };
    let ByColor { black, white } = left.map(|left| usize::from(left).min(CHECKS - 1));
    visit([2 * HAND + white, 2 * HAND + black]);
    visit([2 * HAND + CHECKS + black, 2 * HAND + CHECKS + white]);
}

impl NetInputs for VariantPosition {
    const KINDS: usize = Role::ALL.len();
    const SQUARES: usize = 64;
    const FACTS: usize = 2 * HAND + 2 * CHECKS;

    fn placed(&self, mut visit: impl FnMut(Placed)) {
        for (square, piece) in self.board() {
            visit(placed(self.columns(), square, piece));
        }
    }

    fn changes(&self, mv: Self::Move, mut change: impl FnMut(Placed, bool)) {
        let columns = self.columns();
        self.changes(mv, |what, square, piece| change(placed(columns, square, piece), what == Change::Put));
    }

    fn facts(&self, visit: impl FnMut([usize; 2])) {
        match self {
            VariantPosition::Crazyhouse(position) => hands(position, visit),
            VariantPosition::ThreeCheck(position) => checks(position, visit),
            _ => {}
        }
    }

    /// By the number of pieces on the board.
    fn bucket(&self) -> usize {
        let at_the_start = match self {
            VariantPosition::Horde(_) => 52,
            VariantPosition::RacingKings(_) => 16,
            VariantPosition::Gardner(_) => 20,
            _ => 32,
        };
        ((self.piece_count() * BUCKETS).saturating_sub(1) / at_the_start).min(BUCKETS - 1)
    }

    /// Black looks from the other side of the board; but both race to the same end of it.
    fn seen(&self, view: Color, square: usize) -> usize {
        match (self, view) {
            (VariantPosition::RacingKings(_), _) | (_, Color::White) => square,
            (VariantPosition::Gardner(_), Color::Black) => (4 - square / 5) * 5 + square % 5,
            (_, Color::Black) => square ^ 0o70,
        }
    }
}

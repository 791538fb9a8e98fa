//! Static exchange on a small board: what the captures on one square win, without playing them.
//!
//! Source: Chess Programming Wiki, "SEE - The Swap Algorithm".

use super::{
    bits::Bits,
    board::{Board, PieceKind},
    square::{Move, Square},
};
use crate::color::Color;

/// The move that begins an exchange.
pub(crate) struct Exchange<K> {
    pub color: Color,
    /// Immediate gain, less the threshold that the exchange has to reach.
    pub balance: i32,
    /// Piece on the target square afterwards, if any.
    pub arrives: Option<K>,
    /// Squares that block lines besides the pieces.
    pub obstacles: u64,
}

impl<K: PieceKind, const KINDS: usize, const COLUMNS: usize, const SQUARES: usize>
    Board<K, KINDS, COLUMNS, SQUARES>
{
    /// Whether an exchange reaches its threshold if both sides capture with their least valuable piece and stop when
    /// that is better for them. A king counts by its value like any other piece. Promotions later in the exchange are
    /// not counted.
    pub(crate) fn wins(
        &self,
        mv: Move<COLUMNS, SQUARES>,
        exchange: &Exchange<K>,
        value: impl Fn(K) -> i32,
    ) -> bool {
        let Exchange { color: us, mut balance, arrives, obstacles } = *exchange;
        if balance < 0 {
            return false;
        }
        let Some(arrives) = arrives else { return true };
        balance -= value(arrives);
        if balance >= 0 {
            return true;
        }
        let mut occupied = self.occupied() & !mv.from.bit() | mv.to.bit();
        let mut color = !us;
        while let Some((from, kind)) = self.least_attacker(mv.to, color, occupied, obstacles) {
            color = !color;
            balance = -balance - 1 - value(kind);
            if balance >= 0 {
                break;
            }
            occupied &= !(1 << from);
        }
        // The side that cannot or will not go on has lost the exchange.
        color != us
    }

    fn least_attacker(
        &self,
        square: Square<COLUMNS, SQUARES>,
        by: Color,
        occupied: u64,
        obstacles: u64,
    ) -> Option<(usize, K)> {
        let attackers = self.attackers(square, by, occupied | obstacles) & occupied;
        K::ALL.iter().find_map(|&kind| Some((Bits(attackers & self.of(kind)).next()?, kind)))
    }
}

//! Moves in 16 bits: from, to, and the piece that is promoted to or dropped.

use shakmaty::{Move, Position, Role, Square};

use crate::game::Packed;

/// Marks a drop in the upper four bits, beside the piece.
const DROP: u16 = 8;

pub(super) fn pack(mv: Move) -> Packed {
    let from = mv.from().map_or(0, u16::from);
    let kind = match mv {
        Move::Put { role, .. } => DROP | role as u16,
        _ => mv.promotion().map_or(0, |role| role as u16),
    };
    Packed(from | u16::from(mv.to()) << 6 | kind << 12)
}

/// `None` unless the move is legal here.
pub(super) fn unpack<P: Position>(position: &P, packed: Packed) -> Option<Move> {
    let square = |bits: u16| Square::new(u32::from(bits & 63));
    let from = square(packed.0);
    let to = square(packed.0 >> 6);
    let board = position.board();
    let us = position.turn();
    let promotion = match packed.0 >> 12 {
        0 => None,
        kind if kind & DROP != 0 => {
            let mv = Move::Put { role: Role::try_from(kind & !DROP).ok()?, to };
            return position.is_legal(mv).then_some(mv);
        }
        role => Some(Role::try_from(role).ok()?),
    };
    let role = board.role_at(from).filter(|_| board.by_color(us).contains(from))?;
    let mv = if role == Role::King && board.by_piece(Role::Rook.of(us)).contains(to) {
        Move::Castle { king: from, rook: to }
    } else if role == Role::Pawn && from.file() != to.file() && !board.occupied().contains(to) {
        Move::EnPassant { from, to }
    } else {
        Move::Normal { role, from, capture: board.role_at(to), to, promotion }
    };
    position.is_legal(mv).then_some(mv)
}

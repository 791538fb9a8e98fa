//! Detection of moves that give check, without playing them: a search asks it of moves that it then skips.

use shakmaty::{Bitboard, Chess, Move, Position, attacks};

use super::captures::attacks_of;

/// Whether the piece that moves gives check, or a slider that it uncovers.
pub(super) fn gives_check(position: &Chess, mv: Move) -> bool {
    let Move::Normal { role, from, to, promotion, .. } = mv else {
        // Castling and en passant move or capture a second piece, and are rare.
        return is_check_after(position, mv);
    };
    let board = position.board();
    let us = position.turn();
    let Some(king) = board.king_of(!us) else { return false };
    let occupied = board.occupied().without(from).with(to);
    let arriving = promotion.unwrap_or(role).of(us);
    if attacks_of(arriving, to, occupied).contains(king) {
        return true;
    }
    if !attacks::queen_attacks(king, Bitboard::EMPTY).contains(from) {
        return false;
    }
    let others = board.by_color(us).without(from);
    let straight = attacks::rook_attacks(king, occupied) & board.rooks_and_queens();
    let diagonal = attacks::bishop_attacks(king, occupied) & board.bishops_and_queens();
    ((straight | diagonal) & others).any()
}

/// Whether a move gives check, found by playing it, in any variant.
pub(super) fn is_check_after<P: Position + Clone>(position: &P, mv: Move) -> bool {
    let mut after = position.clone();
    after.play_unchecked(mv);
    after.is_check()
}

//! Captures and queen promotions, generated directly: shakmaty's `capture_moves` filters all legal
//! moves and costs three times as much, and quiescence asks at most nodes.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Piece, Position, Rank, Role, Square, attacks};

use crate::game::Moves;

/// A capture or a promotion, but no promotion to less than a queen.
#[inline]
pub(super) fn is_noisy(mv: Move) -> bool {
    mv.promotion().map_or(mv.is_capture(), |role| role == Role::Queen)
}

/// All legal captures (promotions by capture only to a queen) and queen promotions.
pub(super) fn moves(position: &Chess) -> Moves<Move> {
    let mut moves = Moves::new();
    generate(position, &mut moves);
    moves
}

/// Fills a list in place: copying one costs as much as filling it.
fn generate(position: &Chess, moves: &mut Moves<Move>) {
    if position.is_check() {
        moves.extend(position.legal_moves().iter().copied().filter(|mv| is_noisy(*mv)));
        return;
    }
    let board = position.board();
    let us = position.turn();
    let Some(king) = board.king_of(us) else { return };
    let captures = Captures { board, us, king, pinned: pinned(board, us, king) };
    captures.pawns(moves);
    captures.officers(moves);
    captures.kings(moves);
    if position.maybe_ep_square().is_some() {
        moves.extend(position.en_passant_moves());
    }
}

/// The pieces of `us` that shield their king from a slider.
fn pinned(board: &Board, us: Color, king: Square) -> Bitboard {
    let empty = Bitboard::EMPTY;
    let snipers = attacks::rook_attacks(king, empty) & board.rooks_and_queens()
        | attacks::bishop_attacks(king, empty) & board.bishops_and_queens();
    let mut pinned = empty;
    for sniper in snipers & board.by_color(!us) {
        let between = attacks::between(king, sniper) & board.occupied();
        if between.single_square().is_some() {
            pinned |= between & board.by_color(us);
        }
    }
    pinned
}

struct Captures<'p> {
    board: &'p Board,
    us: Color,
    king: Square,
    pinned: Bitboard,
}

impl Captures<'_> {
    fn them(&self) -> Bitboard {
        self.board.by_color(!self.us)
    }

    /// A pinned piece may only move along the line of its pin.
    fn is_safe(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || attacks::aligned(self.king, from, to)
    }

    fn push(&self, moves: &mut Moves<Move>, role: Role, from: Square, to: Square, promotion: Option<Role>) {
        moves.push(Move::Normal { role, from, capture: self.board.role_at(to), to, promotion });
    }

    fn pawns(&self, moves: &mut Moves<Move>) {
        let pawns = self.board.pawns() & self.board.by_color(self.us);
        let seventh = Bitboard::from_rank(self.us.fold_wb(Rank::Seventh, Rank::Second));
        for from in pawns {
            let promotion = seventh.contains(from).then_some(Role::Queen);
            let mut targets = attacks::pawn_attacks(self.us, from) & self.them();
            if promotion.is_some() {
                let ahead = from.offset(self.us.fold_wb(8, -8));
                targets |= Bitboard::from_iter(ahead) & !self.board.occupied();
            }
            for to in targets {
                if self.is_safe(from, to) {
                    self.push(moves, Role::Pawn, from, to, promotion);
                }
            }
        }
    }

    fn officers(&self, moves: &mut Moves<Move>) {
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            for from in self.board.by_piece(role.of(self.us)) {
                for to in attacks_of(role.of(self.us), from, self.board.occupied()) & self.them() {
                    if self.is_safe(from, to) {
                        self.push(moves, role, from, to, None);
                    }
                }
            }
        }
    }

    fn kings(&self, moves: &mut Moves<Move>) {
        let occupied = self.board.occupied().without(self.king);
        for to in attacks::king_attacks(self.king) & self.them() {
            if self.board.attacks_to(to, !self.us, occupied).is_empty() {
                self.push(moves, Role::King, self.king, to, None);
            }
        }
    }
}

/// Squares that a piece attacks. shakmaty's function of this name is not inlined into other crates, and a twentieth of
/// the search's time goes here.
#[inline]
pub(super) fn attacks_of(piece: Piece, from: Square, occupied: Bitboard) -> Bitboard {
    match piece.role {
        Role::Pawn => attacks::pawn_attacks(piece.color, from),
        Role::Knight => attacks::knight_attacks(from),
        Role::Bishop => attacks::bishop_attacks(from, occupied),
        Role::Rook => attacks::rook_attacks(from, occupied),
        Role::Queen => attacks::queen_attacks(from, occupied),
        Role::King => attacks::king_attacks(from),
    }
}

//! Static exchange evaluation: what the captures on one square win, without playing them.
//!
//! Source: Chess Programming Wiki, "SEE - The Swap Algorithm".

use shakmaty::{Bitboard, Board, Color, Move, Role, Square, attacks};

/// The value of a piece in an exchange, in centipawns. Kings never count: they are not captured.
#[inline]
pub(super) fn value(role: Role) -> i32 {
    const VALUES: [i32; 6] = [100, 320, 330, 500, 900, 0];
    VALUES[role as usize - 1]
}

/// Whether the exchange that `mv` begins on its target square wins at least `threshold` if both sides capture with
/// their least valuable piece and stop when that is better for them.
///
/// An estimate: it ignores pins, and promotions later in the exchange. A dropped piece comes from nowhere.
pub(super) fn wins(board: &Board, mv: Move, us: Color, threshold: i32) -> bool {
    if mv.is_castle() {
        return threshold <= 0;
    }
    let to = mv.to();
    let arriving = mv.promotion().unwrap_or(mv.role());
    let promoted = value(arriving) - value(mv.role());

    // The balance if the exchange stops right here …
    let mut balance = mv.capture().map_or(0, value) + promoted - threshold;
    if balance < 0 {
        return false;
    }
    // … and if the other side just recaptures.
    balance -= value(arriving);
    if balance >= 0 {
        return true;
    }

    let mut occupied = board.occupied();
    if let Some(from) = mv.from() {
        occupied.discard(from);
        if mv.is_en_passant() {
            occupied.discard(Square::from_coords(to.file(), from.rank()));
        }
    }
    occupied.add(to);
    let diagonal = board.bishops_and_queens();
    let straight = board.rooks_and_queens();
    let mut attackers = attackers(board, to, occupied);
    let mut side = !us;
    loop {
        attackers &= occupied;
        let own = attackers & board.by_color(side);
        let Some((square, role)) = least_valuable(board, own) else { break };
        // The king captures last, and only what is no longer defended.
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            break;
        }
        side = !side;
        balance = -balance - 1 - value(role);
        if balance >= 0 {
            break;
        }
        occupied.discard(square);
        if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
            attackers |= attacks::bishop_attacks(to, occupied) & diagonal;
        }
        if matches!(role, Role::Rook | Role::Queen) {
            attackers |= attacks::rook_attacks(to, occupied) & straight;
        }
    }
    // The side that cannot or will not go on has lost the exchange.
    side != us
}

/// The attackers of both colors: one query for each color would look along every line twice.
fn attackers(board: &Board, to: Square, occupied: Bitboard) -> Bitboard {
    let pawns = |color: Color| attacks::pawn_attacks(!color, to) & board.by_piece(Role::Pawn.of(color));
    attacks::rook_attacks(to, occupied) & board.rooks_and_queens()
        | attacks::bishop_attacks(to, occupied) & board.bishops_and_queens()
        | attacks::knight_attacks(to) & board.knights()
        | attacks::king_attacks(to) & board.kings()
        | pawns(Color::White)
        | pawns(Color::Black)
}

fn least_valuable(board: &Board, own: Bitboard) -> Option<(Square, Role)> {
    Role::ALL.into_iter().find_map(|role| Some(((own & board.by_role(role)).first()?, role)))
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::{chess::Chess, game::Game, tactics::Tactics};
    use shakmaty::Role;

    #[test]
    fn known_exchanges() {
        let p = value(Role::Pawn);
        let n = value(Role::Knight);
        let b = value(Role::Bishop);
        let r = value(Role::Rook);
        let q = value(Role::Queen);
        for (fen, mv, won) in [
            // Undefended, defended, and behind an x-ray.
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", p),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", p - n),
            ("4R3/2r3p1/5bk1/1p1r3p/p2PR1P1/P1BK1P2/1P6/8 b - - 0 1", "h5g4", 0),
            ("4r1k1/5pp1/nbp4p/1p2p2q/1P2P1b1/1BP2N1P/1B2QPPK/3R4 b - - 0 1", "g4f3", n - b),
            ("7r/5qpk/p1Qp1b1p/3r3n/BB3p2/5p2/P1P2P2/4RK1R w - - 0 1", "e1e8", 0),
            // En passant and promotions.
            ("8/8/8/3pP3/8/8/8/K6k w - d6 0 1", "e5d6", p),
            ("k7/4P3/8/8/8/8/8/K7 w - - 0 1", "e7e8q", q - p),
            ("5r2/4P3/8/8/8/8/8/K6k w - - 0 1", "e7e8q", -p),
            ("5r2/4P3/8/8/8/8/8/K6k w - - 0 1", "e7f8q", r + q - p),
            // A king does not capture a defended piece.
            ("8/8/8/3k4/4r3/3P4/8/K7 w - - 0 1", "d3e4", r - p),
            ("8/8/1b6/3k4/4r3/3P4/6B1/K7 w - - 0 1", "d3e4", r),
        ] {
            let position = Chess::parse(fen).unwrap();
            let mv = position.read(mv).unwrap();
            assert!(position.see_ge(mv, won), "{fen} {mv:?} wins {won}");
            assert!(!position.see_ge(mv, won + 1), "{fen} {mv:?} wins no more than {won}");
        }
    }
}

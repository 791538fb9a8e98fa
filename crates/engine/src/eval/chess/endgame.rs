//! What everybody knows of endgames: which are drawn whatever the count says, and how bare kings are mated.

use shakmaty::{Bitboard, Board, Color, Role, Square};

use super::{bitboards::rank_of, kpk, terms::officer};

/// A scale that leaves the endgame's score as it is.
pub const WHOLE: i32 = 64;

/// In centipawns, roughly: knight, bishop, rook, queen.
const OFFICERS: [i32; 4] = [320, 330, 500, 900];
/// More than any count of terms gives.
const WON: i32 = 1_500;

/// How much of this side's advantage counts, in parts of [`WHOLE`].
pub fn scale(board: &Board, strong: Color, passed: Bitboard) -> i32 {
    let own = board.by_color(strong);
    let pawns = (own & board.pawns()).count() as i32;
    let (ours, theirs) = (officers(board, strong), officers(board, !strong));
    if pawns == 0 && ours - theirs <= OFFICERS[officer(Role::Bishop)] {
        // A minor piece more wins nothing; against a rook, say, a rook and a minor piece win seldom.
        let a_rook = ours >= OFFICERS[officer(Role::Rook)];
        let a_minor = theirs <= OFFICERS[officer(Role::Bishop)];
        return if !a_rook {
            0
        } else if a_minor {
            8
        } else {
            16
        };
    }
    if pawns > 0 && is_wrong_corner(board, strong) {
        return 0;
    }
    if has_opposite_bishops(board) {
        let passed = (passed & own).count() as i32;
        let bishops_alone = ours == theirs && ours == OFFICERS[officer(Role::Bishop)];
        return if bishops_alone { 20 + 4 * passed } else { 36 + 3 * pawns }.min(WHOLE);
    }
    if pawns == 1 && is_rook_ending(board) && stands_before(board, strong) {
        return 20;
    }
    (40 + 5 * pawns).min(WHOLE)
}

fn officers(board: &Board, side: Color) -> i32 {
    let count = |role: Role| (board.by_piece(role.of(side))).count() as i32;
    [Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .into_iter()
        .zip(OFFICERS)
        .map(|(role, worth)| worth * count(role))
        .sum()
}

fn has_opposite_bishops(board: &Board) -> bool {
    let one = |color: Color| board.by_piece(Role::Bishop.of(color)).single_square();
    one(Color::White)
        .zip(one(Color::Black))
        .is_some_and(|(white, black)| white.is_light() != black.is_light())
}

/// Nothing but a rook and pawns on both sides?
fn is_rook_ending(board: &Board) -> bool {
    let rook = OFFICERS[officer(Role::Rook)];
    board.rooks().count() == 2 && Color::ALL.into_iter().all(|side| officers(board, side) == rook)
}

/// Does the other king stand before our only pawn, where it is not driven away before the pawn is far ahead?
fn stands_before(board: &Board, strong: Color) -> bool {
    let pawn = (board.pawns() & board.by_color(strong)).first();
    pawn.zip(board.king_of(!strong)).is_some_and(|(pawn, king)| {
        rank_of(strong, pawn) < 6
            && pawn.file().distance(king.file()) <= 1
            && rank_of(strong, king) > rank_of(strong, pawn)
    })
}

/// Bishops, if anything, and pawns on one edge, whose corner no bishop of ours holds and their king does?
fn is_wrong_corner(board: &Board, strong: Color) -> bool {
    let own = board.by_color(strong);
    let (pawns, bishops) = (own & board.pawns(), own & board.bishops());
    if own != pawns | bishops | own & board.kings() {
        return false;
    }
    let Some(pawn) = pawns.first() else { return false };
    let file = Bitboard::from_file(pawn.file());
    let is_edge = pawn.file() as u32 == 0 || pawn.file() as u32 == 7;
    if !is_edge || !pawns.is_subset(file) {
        return false;
    }
    let corner =
        Square::from_coords(pawn.file(), strong.fold_wb(shakmaty::Rank::Eighth, shakmaty::Rank::First));
    let held = bishops.into_iter().any(|bishop| bishop.is_light() == corner.is_light());
    !held && board.king_of(!strong).is_some_and(|king| king.distance(corner) <= 1)
}

/// The score of an ending against a bare king, as White sees it; `None` where the terms say it as well.
pub fn bare_king(board: &Board, to_move: Color) -> Option<i32> {
    let strong = Color::ALL.into_iter().find(|&color| !board.by_color(!color).more_than_one())?;
    let score = against(board, strong, to_move)?;
    Some(strong.fold_wb(score, -score))
}

/// The score of this side, whose opponent has nothing.
fn against(board: &Board, strong: Color, to_move: Color) -> Option<i32> {
    let (king, other) = (board.king_of(strong)?, board.king_of(!strong)?);
    let own = board.by_color(strong);
    let pawns = own & board.pawns();
    if let (Some(pawn), 2) = (pawns.single_square(), own.count()) {
        let won = kpk::is_won(strong, king, pawn, other, to_move);
        return Some(if won { WON / 2 + 20 * rank_of(strong, pawn) as i32 } else { 0 });
    }
    if is_wrong_corner(board, strong) {
        return Some(0);
    }
    let near = 8 * (7 - king.distance(other) as i32);
    let (knights, bishops) = (own & board.knights(), own & board.bishops());
    let heavy = own & board.rooks_and_queens();
    let both_colours = (bishops & Bitboard::LIGHT_SQUARES).any() && (bishops & Bitboard::DARK_SQUARES).any();
    let mates = heavy.any() || both_colours || knights.any() && bishops.any() || knights.count() > 2;
    if !mates {
        // Pawns must do it, if there are any.
        return pawns.is_empty().then_some(0);
    }
    let driven = match bishops.single_square().filter(|_| heavy.is_empty() && pawns.is_empty()) {
        // Knight and bishop mate in a corner that the bishop holds.
        Some(bishop) => 30 * (7 - to_corner(other, bishop.is_light())),
        None => 20 * from_centre(other),
    };
    Some(WON + officers(board, strong) / 4 + 20 * pawns.count() as i32 + driven + near)
}

/// Steps from the four squares in the middle.
fn from_centre(square: Square) -> i32 {
    let off = |at: u32| (2 * at as i32 - 7).abs() / 2;
    off(square.file() as u32) + off(square.rank() as u32)
}

/// Steps to the nearer corner of a colour.
fn to_corner(square: Square, light: bool) -> i32 {
    let corners = if light { [Square::A8, Square::H1] } else { [Square::A1, Square::H8] };
    corners.into_iter().map(|corner| square.distance(corner) as i32).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess::Chess};

    fn bare(fen: &str) -> Option<i32> {
        let position = Chess::parse(fen).unwrap();
        bare_king(position.board(), position.turn())
    }

    fn scaled(fen: &str) -> i32 {
        scale(Chess::parse(fen).unwrap().board(), Color::White, Bitboard::EMPTY)
    }

    #[test]
    fn bare_kings() {
        assert_eq!(bare("4k3/8/8/8/8/8/8/2N1K1N1 w - - 0 1"), Some(0), "two knights");
        assert_eq!(bare("4k3/8/8/8/8/8/8/2B1K1B1 w - - 0 1"), Some(0), "two bishops of a colour");
        assert!(bare("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1").unwrap() > WON);
        assert!(bare("4K3/8/8/8/8/8/8/4k2r w - - 0 1").unwrap() < -WON);
        assert_eq!(bare("k7/8/8/8/P7/8/8/2B1K3 w - - 0 1"), Some(0), "the wrong corner");
        assert_eq!(bare("4k3/8/8/8/P7/8/8/2B1K3 w - - 0 1"), None, "the king is too far away");
        assert_eq!(bare("4k3/8/8/8/P7/1P6/8/4K3 w - - 0 1"), None);
        // Driven to the right corner, and the kings near each other.
        let mate = |king: &str| bare(&format!("{king} w - - 0 1")).unwrap();
        assert!(mate("k7/8/2K5/8/8/8/8/3BN3") > mate("7k/8/2K5/8/8/8/8/3BN3"));
        assert!(mate("k7/8/2K5/8/8/8/8/3R4") > mate("8/8/2K1k3/8/8/8/8/3R4"));
    }

    #[test]
    fn scales() {
        assert_eq!(scaled("4k3/8/8/8/8/8/4r3/2B1KR2 w - - 0 1"), 16, "a rook and a bishop against a rook");
        assert_eq!(scaled("4k3/8/8/8/8/8/4p3/2B1K3 w - - 0 1"), 0, "a bishop does not win alone");
        assert!(scaled("4k3/8/8/5p2/8/3P1b2/8/2B1K3 w - - 0 1") < WHOLE / 2, "opposite bishops");
        assert!(scaled("8/5r2/4k3/8/4P3/8/4R3/4K3 w - - 0 1") < WHOLE / 2, "Philidor");
        assert_eq!(scaled(&Chess::start().print()), WHOLE);
    }
}

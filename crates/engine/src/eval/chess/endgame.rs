//! Endgame knowledge: scale factors for drawish endings, and mating a bare king.
//!
//! Sources: Chess Programming Wiki, "Draw Evaluation", "Mop-up Evaluation" and "KBNK Endgame"; the scale factors
//! are hand-picked, in sixty-fourths as in Stockfish.

use shakmaty::{Bitboard, Board, Color, Role, Square};

use super::{bitboards::relative_rank, kpk, terms::piece_index};

/// Scale factor that leaves the endgame score unchanged.
pub(crate) const SCALE_NORMAL: i32 = 64;

/// Scale factors without pawns and at most a minor piece ahead: that piece against a rook, or with more on both sides.
const SCALE_PAWNLESS: i32 = 16;
const SCALE_ROOK_AGAINST_MINOR: i32 = 8;
/// Scale factors with bishops of opposite colours, with no other pieces or with some, and for each passed pawn or pawn.
const SCALE_OPPOSITE_BISHOPS: i32 = 20;
const SCALE_BISHOPS_PASSED: i32 = 4;
const SCALE_OPPOSITE_BISHOPS_AND_PIECES: i32 = 36;
const SCALE_BISHOPS_PAWN: i32 = 3;
/// Scale factor of a rook ending whose only pawn is blocked by the king.
const SCALE_BLOCKED_ROOK_PAWN: i32 = 20;
/// Scale factor of other endings, and for each pawn.
const SCALE_BASE: i32 = 40;
const SCALE_PAWN: i32 = 5;

/// Bonuses against a bare king, in centipawns: for each rank or pawn, …
const PAWN_BONUS: i32 = 20;
/// … for each square that the kings are nearer, …
const PROXIMITY_BONUS: i32 = 8;
/// … for each square that the bare king is from the centre, or nearer to the corner of the bishop's colour.
const CENTRE_BONUS: i32 = 20;
const CORNER_BONUS: i32 = 30;

/// Values of knight, bishop, rook and queen, in centipawns.
const PIECE_VALUES: [i32; 4] = [320, 330, 500, 900];
/// Score of a known win, above any sum of terms.
const KNOWN_WIN: i32 = 1_500;

/// Scale factor of an endgame advantage that hardly wins, in parts of [`SCALE_NORMAL`]: without pawns and little
/// ahead, or with rook pawns and the wrong bishop.
pub(crate) fn drawish(board: &Board, strong: Color) -> Option<i32> {
    if (board.by_color(strong) & board.pawns()).any() {
        return is_wrong_corner(board, strong).then_some(0);
    }
    let (ours, theirs) = (piece_material(board, strong), piece_material(board, !strong));
    // A single minor piece does not win, and rook and minor piece against rook seldom do.
    let a_rook = ours >= PIECE_VALUES[piece_index(Role::Rook)];
    let a_minor = theirs <= PIECE_VALUES[piece_index(Role::Bishop)];
    match ours - theirs <= PIECE_VALUES[piece_index(Role::Bishop)] {
        false => None,
        true if !a_rook => Some(0),
        true if a_minor => Some(SCALE_ROOK_AGAINST_MINOR),
        true => Some(SCALE_PAWNLESS),
    }
}

/// Scale factor of this side's endgame advantage, in parts of [`SCALE_NORMAL`].
pub(crate) fn scale(board: &Board, strong: Color, passed: Bitboard) -> i32 {
    if let Some(scale) = drawish(board, strong) {
        return scale;
    }
    let own = board.by_color(strong);
    let pawns = (own & board.pawns()).count() as i32;
    let (ours, theirs) = (piece_material(board, strong), piece_material(board, !strong));
    if has_opposite_bishops(board) {
        let passed = (passed & own).count() as i32;
        let bishops_alone = ours == theirs && ours == PIECE_VALUES[piece_index(Role::Bishop)];
        let scale = match bishops_alone {
            true => SCALE_OPPOSITE_BISHOPS + SCALE_BISHOPS_PASSED * passed,
            false => SCALE_OPPOSITE_BISHOPS_AND_PIECES + SCALE_BISHOPS_PAWN * pawns,
        };
        return scale.min(SCALE_NORMAL);
    }
    if pawns == 1 && is_rook_ending(board) && king_blocks_pawn(board, strong) {
        return SCALE_BLOCKED_ROOK_PAWN;
    }
    (SCALE_BASE + SCALE_PAWN * pawns).min(SCALE_NORMAL)
}

fn piece_material(board: &Board, side: Color) -> i32 {
    let count = |role: Role| (board.by_piece(role.of(side))).count() as i32;
    [Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .into_iter()
        .zip(PIECE_VALUES)
        .map(|(role, worth)| worth * count(role))
        .sum()
}

fn has_opposite_bishops(board: &Board) -> bool {
    let one = |color: Color| board.by_piece(Role::Bishop.of(color)).single_square();
    one(Color::White)
        .zip(one(Color::Black))
        .is_some_and(|(white, black)| white.is_light() != black.is_light())
}

fn is_rook_ending(board: &Board) -> bool {
    let rook = PIECE_VALUES[piece_index(Role::Rook)];
    board.rooks().count() == 2 && Color::ALL.into_iter().all(|side| piece_material(board, side) == rook)
}

/// Returns whether the enemy king stands before the only pawn, which is not yet far advanced.
fn king_blocks_pawn(board: &Board, strong: Color) -> bool {
    let pawn = (board.pawns() & board.by_color(strong)).first();
    pawn.zip(board.king_of(!strong)).is_some_and(|(pawn, king)| {
        relative_rank(strong, pawn) < 6
            && pawn.file().distance(king.file()) <= 1
            && relative_rank(strong, king) > relative_rank(strong, pawn)
    })
}

/// Returns whether only rook pawns are left, with bishops of the wrong colour at most, and the enemy king holds
/// the corner.
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

/// Score of an ending against a bare king, from White's point of view; `None` if the terms suffice.
pub(crate) fn bare_king(board: &Board, to_move: Color) -> Option<i32> {
    let strong = Color::ALL.into_iter().find(|&color| !board.by_color(!color).more_than_one())?;
    let score = score_against_bare_king(board, strong, to_move)?;
    Some(strong.fold_wb(score, -score))
}

/// Score of the side whose opponent has a bare king.
fn score_against_bare_king(board: &Board, strong: Color, to_move: Color) -> Option<i32> {
    let (king, other) = (board.king_of(strong)?, board.king_of(!strong)?);
    let own = board.by_color(strong);
    let pawns = own & board.pawns();
    if let (Some(pawn), 2) = (pawns.single_square(), own.count()) {
        let won = kpk::is_won(strong, king, pawn, other, to_move);
        return Some(if won { KNOWN_WIN / 2 + PAWN_BONUS * relative_rank(strong, pawn) as i32 } else { 0 });
    }
    if is_wrong_corner(board, strong) {
        return Some(0);
    }
    let proximity = PROXIMITY_BONUS * (7 - king.distance(other) as i32);
    let (knights, bishops) = (own & board.knights(), own & board.bishops());
    let heavy = own & board.rooks_and_queens();
    let both_colours = (bishops & Bitboard::LIGHT_SQUARES).any() && (bishops & Bitboard::DARK_SQUARES).any();
    let mates = heavy.any() || both_colours || knights.any() && bishops.any() || knights.count() > 2;
    if !mates {
        // Without mating material only pawns can win.
        return pawns.is_empty().then_some(0);
    }
    let corner_bonus = match bishops.single_square().filter(|_| heavy.is_empty() && pawns.is_empty()) {
        // Knight and bishop mate in a corner of the bishop's colour.
        Some(bishop) => CORNER_BONUS * (7 - to_corner(other, bishop.is_light())),
        None => CENTRE_BONUS * from_centre(other),
    };
    Some(
        KNOWN_WIN
            + piece_material(board, strong) / 4
            + PAWN_BONUS * pawns.count() as i32
            + corner_bonus
            + proximity,
    )
}

fn from_centre(square: Square) -> i32 {
    let off = |at: u32| (2 * at as i32 - 7).abs() / 2;
    off(square.file() as u32) + off(square.rank() as u32)
}

/// Distance to the nearer corner of a colour.
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
        assert!(bare("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1").unwrap() > KNOWN_WIN);
        assert!(bare("4K3/8/8/8/8/8/8/4k2r w - - 0 1").unwrap() < -KNOWN_WIN);
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
        assert!(scaled("4k3/8/8/5p2/8/3P1b2/8/2B1K3 w - - 0 1") < SCALE_NORMAL / 2, "opposite bishops");
        assert!(scaled("8/5r2/4k3/8/4P3/8/4R3/4K3 w - - 0 1") < SCALE_NORMAL / 2, "Philidor");
        assert_eq!(scaled(&Chess::start().print()), SCALE_NORMAL);
    }
}

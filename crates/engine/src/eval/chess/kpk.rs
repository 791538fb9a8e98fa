//! King and pawn against king bitbase, computed at first use.
//!
//! Source: Chess Programming Wiki, "KPK", and "Retrograde Analysis".

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Rank, Square, attacks};

/// Returns whether the side with the pawn wins.
pub(crate) fn is_won(strong: Color, king: Square, pawn: Square, other: Square, to_move: Color) -> bool {
    // Normalise: White has the pawn, on files a to d.
    let turned = |square: Square| {
        let square = strong.fold_wb(square, square.flip_vertical());
        if pawn.file() as u32 > 3 { square.flip_horizontal() } else { square }
    };
    let (king, pawn, other) = (turned(king), turned(pawn), turned(other));
    WON[usize::from(to_move == strong)][index(king, pawn)].contains(other)
}

/// Squares where the bare king loses, by side to move and by the other two pieces.
type Won = [Box<[Bitboard]>; 2];

static WON: LazyLock<Won> = LazyLock::new(|| {
    let mut won: Won = [(); 2].map(|()| vec![Bitboard::EMPTY; 24 * 64].into_boxed_slice());
    // Each round finds the positions won one ply later.
    loop {
        let mut found = false;
        for king in Square::ALL {
            found |= round(&mut won, king);
        }
        if !found {
            return won;
        }
    }
});

fn index(king: Square, pawn: Square) -> usize {
    (4 * (pawn.rank() as usize - 1) + pawn.file() as usize) * 64 + king as usize
}

/// Updates all positions with the strong king on a square and returns whether a win was found.
fn round(won: &mut Won, king: Square) -> bool {
    let mut found = false;
    for pawn in Square::ALL.into_iter().filter(|&pawn| pawn != king && is_here(pawn)) {
        let at = index(king, pawn);
        let taken = attacks::king_attacks(king).with(king).with(pawn);
        // The side not to move cannot be in check.
        let unchecked = !taken & !attacks::pawn_attacks(Color::White, pawn);
        for other in unchecked & !won[1][at] {
            if strong_wins(won, king, pawn, other) {
                won[1][at].add(other);
                found = true;
            }
        }
        for other in !taken & !won[0][at] {
            if weak_loses(won, king, pawn, other) {
                won[0][at].add(other);
                found = true;
            }
        }
    }
    found
}

/// Returns whether a normalised pawn can stand on a square.
fn is_here(pawn: Square) -> bool {
    (pawn.file() as u32) < 4 && (1..7).contains(&(pawn.rank() as u32))
}

/// Returns whether the side with the pawn has a winning move.
fn strong_wins(won: &Won, king: Square, pawn: Square, other: Square) -> bool {
    let near_other = attacks::king_attacks(other);
    let steps = attacks::king_attacks(king) & !near_other.with(pawn);
    if steps.into_iter().any(|to| won[0][index(to, pawn)].contains(other)) {
        return true;
    }
    let free = |square: &Square| *square != king && *square != other;
    let Some(next) = pawn.offset(8).filter(free) else { return false };
    if next.rank() == Rank::Eighth {
        // Promotes to a queen, or to a rook where that would be stalemate; wins unless captured.
        return !near_other.contains(next) || attacks::king_attacks(king).contains(next);
    }
    let twice = next.offset(8).filter(free).filter(|_| pawn.rank() == Rank::Second);
    [Some(next), twice].into_iter().flatten().any(|to| won[0][index(king, to)].contains(other))
}

/// Returns whether all moves of the bare king lose; having none is stalemate.
fn weak_loses(won: &Won, king: Square, pawn: Square, other: Square) -> bool {
    let attacked = attacks::king_attacks(king) | attacks::pawn_attacks(Color::White, pawn);
    let steps = attacks::king_attacks(other) & !attacked;
    // Capturing the pawn draws.
    steps.any() && !steps.contains(pawn) && steps.is_subset(won[1][index(king, pawn)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_positions() {
        let won = |king, pawn, other, to_move| is_won(Color::White, king, pawn, other, to_move);
        use Color::{Black, White};
        use Square::*;
        // The opposition decides; a king on the sixth before its pawn wins always.
        assert!(!won(E5, E4, E7, White) && won(E5, E4, E7, Black));
        assert!(won(E6, E5, E8, White) && won(E6, E5, E8, Black));
        assert!(!won(E6, E7, E8, Black), "stalemate");
        // A rook pawn does not win against a king in the corner.
        assert!(!won(B6, A5, A8, White) && !won(G6, H5, H8, Black));
        assert!(won(B7, A5, D8, White));
        // Out of the square, or not.
        assert!(won(A1, B5, G5, White) && !won(A1, B4, F5, Black));
        // Black with the pawn, mirrored.
        assert!(is_won(Black, D3, D4, D1, White) && !is_won(Black, D4, D5, D2, Black));
    }

    #[test]
    fn as_many_are_won_as_others_have_counted() {
        let count = |side: &[Bitboard]| side.iter().map(|lost| lost.count()).sum::<usize>();
        // 111,282 of all positions are won, as engines with such a table have counted.
        assert_eq!(count(&WON[0]) + count(&WON[1]), 111_282);
    }
}

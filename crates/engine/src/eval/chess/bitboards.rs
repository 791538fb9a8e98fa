//! Bitboard helpers of the evaluation.

use shakmaty::{Bitboard, Color, File, Rank, Square};

/// Adjacent files.
pub(crate) fn adjacent_files(file: File) -> Bitboard {
    let file = Bitboard::from_file(file);
    west(file) | east(file)
}

pub(crate) fn west(squares: Bitboard) -> Bitboard {
    Bitboard(squares.0 >> 1 & !Bitboard::from_file(File::H).0)
}

pub(crate) fn east(squares: Bitboard) -> Bitboard {
    Bitboard(squares.0 << 1 & !Bitboard::from_file(File::A).0)
}

/// Shifts one rank ahead.
pub(crate) fn ahead(color: Color, squares: Bitboard) -> Bitboard {
    Bitboard(color.fold_wb(squares.0 << 8, squares.0 >> 8))
}

/// All ranks ahead of a rank.
pub(crate) fn forward_ranks(color: Color, rank: Rank) -> Bitboard {
    let rank = 8 * rank as u32;
    // Two shifts, as one by 64 bits would overflow.
    Bitboard(color.fold_wb(!0 << rank << 8, (1 << rank) - 1))
}

/// Squares of a file ahead of a square.
pub(crate) fn forward_file(color: Color, square: Square) -> Bitboard {
    Bitboard::from_file(square.file()) & forward_ranks(color, square.rank())
}

pub(crate) fn pawn_attacks(color: Color, pawns: Bitboard) -> Bitboard {
    let ahead = ahead(color, pawns);
    west(ahead) | east(ahead)
}

/// Rank from a side's point of view, from 0.
pub(crate) fn relative_rank(color: Color, square: Square) -> usize {
    color.fold_wb(square.rank(), square.rank().flip_vertical()) as usize
}

/// All squares of the same colour as this one.
pub(crate) fn same_color_squares(square: Square) -> Bitboard {
    if Bitboard::LIGHT_SQUARES.contains(square) { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_squares() {
        assert_eq!(adjacent_files(File::A), Bitboard::from_file(File::B));
        assert_eq!(adjacent_files(File::D), Bitboard::from_file(File::C) | Bitboard::from_file(File::E));
        assert_eq!(forward_ranks(Color::White, Rank::Eighth), Bitboard::EMPTY);
        assert_eq!(forward_ranks(Color::White, Rank::Seventh), Bitboard::from_rank(Rank::Eighth));
        assert_eq!(forward_ranks(Color::White, Rank::First).count(), 56);
        assert_eq!(forward_ranks(Color::Black, Rank::First), Bitboard::EMPTY);
        assert_eq!(forward_ranks(Color::Black, Rank::Third).count(), 16);
        assert_eq!(forward_file(Color::White, Square::E6), Bitboard::from_iter([Square::E7, Square::E8]));
        assert_eq!(forward_file(Color::Black, Square::A2), Bitboard::from_square(Square::A1));
        let pawns = Bitboard::from_iter([Square::A2, Square::H4]);
        assert_eq!(pawn_attacks(Color::White, pawns), Bitboard::from_iter([Square::B3, Square::G5]));
        assert_eq!(pawn_attacks(Color::Black, pawns), Bitboard::from_iter([Square::B1, Square::G3]));
        assert_eq!(
            (relative_rank(Color::White, Square::E2), relative_rank(Color::Black, Square::E2)),
            (1, 6)
        );
        assert!(
            same_color_squares(Square::A1).contains(Square::H8)
                && !same_color_squares(Square::A1).contains(Square::A8)
        );
    }
}

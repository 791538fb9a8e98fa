//! Sets of squares that the terms ask for.

use shakmaty::{Bitboard, Color, File, Rank, Square};

/// The files beside this one.
pub fn beside(file: File) -> Bitboard {
    let file = Bitboard::from_file(file);
    west(file) | east(file)
}

pub fn west(squares: Bitboard) -> Bitboard {
    Bitboard(squares.0 >> 1 & !Bitboard::from_file(File::H).0)
}

pub fn east(squares: Bitboard) -> Bitboard {
    Bitboard(squares.0 << 1 & !Bitboard::from_file(File::A).0)
}

/// One rank ahead.
pub fn ahead(color: Color, squares: Bitboard) -> Bitboard {
    Bitboard(color.fold_wb(squares.0 << 8, squares.0 >> 8))
}

/// All ranks ahead of this one.
pub fn ranks_ahead(color: Color, rank: Rank) -> Bitboard {
    let rank = 8 * rank as u32;
    // In two steps, as one of 64 bits would be none.
    Bitboard(color.fold_wb(!0 << rank << 8, (1 << rank) - 1))
}

/// The way of a pawn to the last rank.
pub fn way(color: Color, square: Square) -> Bitboard {
    Bitboard::from_file(square.file()) & ranks_ahead(color, square.rank())
}

/// Where pawns attack.
pub fn pawn_attacks(color: Color, pawns: Bitboard) -> Bitboard {
    let ahead = ahead(color, pawns);
    west(ahead) | east(ahead)
}

/// As a side counts its ranks, from 0.
pub fn rank_of(color: Color, square: Square) -> usize {
    color.fold_wb(square.rank(), square.rank().flip_vertical()) as usize
}

/// Every square of the same colour as this one.
pub fn same_colour(square: Square) -> Bitboard {
    if Bitboard::LIGHT_SQUARES.contains(square) { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_squares() {
        assert_eq!(beside(File::A), Bitboard::from_file(File::B));
        assert_eq!(beside(File::D), Bitboard::from_file(File::C) | Bitboard::from_file(File::E));
        assert_eq!(ranks_ahead(Color::White, Rank::Eighth), Bitboard::EMPTY);
        assert_eq!(ranks_ahead(Color::White, Rank::Seventh), Bitboard::from_rank(Rank::Eighth));
        assert_eq!(ranks_ahead(Color::White, Rank::First).count(), 56);
        assert_eq!(ranks_ahead(Color::Black, Rank::First), Bitboard::EMPTY);
        assert_eq!(ranks_ahead(Color::Black, Rank::Third).count(), 16);
        assert_eq!(way(Color::White, Square::E6), Bitboard::from_iter([Square::E7, Square::E8]));
        assert_eq!(way(Color::Black, Square::A2), Bitboard::from_square(Square::A1));
        let pawns = Bitboard::from_iter([Square::A2, Square::H4]);
        assert_eq!(pawn_attacks(Color::White, pawns), Bitboard::from_iter([Square::B3, Square::G5]));
        assert_eq!(pawn_attacks(Color::Black, pawns), Bitboard::from_iter([Square::B1, Square::G3]));
        assert_eq!((rank_of(Color::White, Square::E2), rank_of(Color::Black, Square::E2)), (1, 6));
        assert!(
            same_colour(Square::A1).contains(Square::H8) && !same_colour(Square::A1).contains(Square::A8)
        );
    }
}

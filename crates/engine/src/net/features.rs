//! Inputs of a network: the pieces of a board as one side sees them.

use shakmaty::{Color, File, Piece, Square};

/// Number of inputs of a side: own and other pieces, by kind and square.
pub const FEATURES: usize = 768;

/// Squares are mirrored for a king from here on.
const FIRST_MIRRORED: File = File::E;

/// Number of the input that is one if `piece` stands on `square`, as `view` sees it with its own king on `king`.
///
/// ```
/// use shakmaty::{Color, Role, Square};
/// use zeitnot_engine::net::feature_index;
///
/// let pawn = Role::Pawn.of(Color::White);
/// assert_eq!(feature_index(Color::White, Square::C1, pawn, Square::A2), 8);
/// assert_eq!(feature_index(Color::White, Square::E1, pawn, Square::A2), 15, "mirrored");
/// assert_eq!(feature_index(Color::Black, Square::C8, pawn, Square::A2), 384 + 48, "from the other side");
/// ```
pub fn feature_index(view: Color, king: Square, piece: Piece, square: Square) -> usize {
    View::new(view, king).index(piece, square)
}

/// The way in which a side sees the squares.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    color: Color,
    /// Bits of a square that are inverted.
    flipped: usize,
}

impl View {
    /// The view of a side whose king is on this square.
    pub(crate) fn new(color: Color, king: Square) -> View {
        let ranks = color.fold_wb(0, 0o70);
        let files = if is_mirrored(king) { 0o07 } else { 0 };
        View { color, flipped: ranks | files }
    }

    pub(crate) fn color(self) -> Color {
        self.color
    }

    /// See [`feature_index`].
    pub(crate) fn index(self, piece: Piece, square: Square) -> usize {
        let side = usize::from(piece.color != self.color);
        (side * 6 + piece.role as usize - 1) * 64 + (square as usize ^ self.flipped)
    }
}

/// Returns whether a side sees the files mirrored with its king on this square.
pub(crate) fn is_mirrored(king: Square) -> bool {
    king.file() >= FIRST_MIRRORED
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use shakmaty::Role;

    use super::*;

    #[test]
    fn every_piece_on_every_square_has_an_input_of_its_own() {
        for view in Color::ALL {
            for king in Square::ALL {
                let mut seen = HashSet::new();
                for color in Color::ALL {
                    for role in Role::ALL {
                        seen.extend(
                            Square::ALL.map(|square| feature_index(view, king, role.of(color), square)),
                        );
                    }
                }
                assert!(seen.len() == FEATURES && seen.iter().all(|&index| index < FEATURES));
            }
        }
    }

    #[test]
    fn both_sides_see_mirrored_positions_alike() {
        for king in Square::ALL {
            for role in Role::ALL {
                for square in Square::ALL {
                    let white = feature_index(Color::White, king, role.of(Color::White), square);
                    let flipped = (king.flip_vertical(), square.flip_vertical());
                    assert_eq!(
                        feature_index(Color::Black, flipped.0, role.of(Color::Black), flipped.1),
                        white
                    );
                    let mirrored = (king.flip_horizontal(), square.flip_horizontal());
                    assert_eq!(
                        feature_index(Color::White, mirrored.0, role.of(Color::White), mirrored.1),
                        white
                    );
                }
            }
        }
    }
}

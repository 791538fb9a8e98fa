//! Pictures of the pieces for large squares, in half blocks: a character shows two pixels, one above the other.

/// Columns and rows of a picture, in characters.
pub(super) const WIDTH: u16 = 9;
pub(super) const HEIGHT: u16 = 4;

type Picture = [&'static str; 2 * HEIGHT as usize];

const PAWN: Picture =
    ["         ", "    #    ", "   ###   ", "   ###   ", "    #    ", "   ###   ", "  #####  ", "  #####  "];
const KNIGHT: Picture =
    ["   ##    ", "  #####  ", " ## ###  ", "#########", "### #### ", "   ####  ", "  #####  ", " ####### "];
const BISHOP: Picture =
    ["    #    ", "   # ##  ", "  ## ##  ", "  #####  ", "   ###   ", "    #    ", "  #####  ", " ####### "];
const ROOK: Picture =
    [" ## # ## ", " ####### ", "  #####  ", "  #####  ", "  #####  ", "  #####  ", " ####### ", " ####### "];
const QUEEN: Picture =
    ["#   #   #", "## ### ##", " ####### ", "  #####  ", "   ###   ", "   ###   ", "  #####  ", " ####### "];
const KING: Picture =
    ["    #    ", "  # # #  ", " ####### ", " ####### ", "  #####  ", "   ###   ", "  #####  ", " ####### "];

/// The characters of a piece, row by row; `None` where there is no picture of it.
pub(super) fn rows(letter: char) -> Option<[String; HEIGHT as usize]> {
    let picture = match letter.to_ascii_lowercase() {
        'p' => PAWN,
        'n' => KNIGHT,
        'b' => BISHOP,
        'r' => ROOK,
        'q' => QUEEN,
        'k' => KING,
        _ => return None,
    };
    let character = |(above, below)| match (above == '#', below == '#') {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    let row = |at: usize| picture[2 * at].chars().zip(picture[2 * at + 1].chars()).map(character).collect();
    Some([0, 1, 2, 3].map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_a_picture_of_its_own() {
        let pictures = ['p', 'n', 'b', 'r', 'q', 'k'].map(|piece| rows(piece).unwrap());
        for (at, picture) in pictures.iter().enumerate() {
            assert!(picture.iter().all(|row| row.chars().count() == usize::from(WIDTH)), "{picture:#?}");
            assert!(!pictures[..at].contains(picture), "{picture:#?}");
        }
        assert_eq!((rows('K'), rows('*')), (rows('k'), None));
    }
}

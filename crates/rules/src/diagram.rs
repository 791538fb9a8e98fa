//! The board as people see it, from the text of a position: for diagrams, whatever the game.

use std::fmt;

use crate::{
    color::{ByColor, Color},
    kind::GameKind,
    tactics::Tactics,
    visitor::Visitor,
};

/// Pieces on their squares, seen by White: row 0 is the top one.
///
/// ```
/// use zeitnot_rules::{Diagram, GameKind};
///
/// let text = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
/// let diagram = Diagram::read(GameKind::Chess, text).unwrap();
/// assert_eq!(diagram.locate("e4"), Some((4, 4)));
/// assert_eq!(diagram.at(4, 4), Some('P'));
/// assert_eq!(diagram.square(7, 0), "a1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    layout: Layout,
    squares: Vec<Option<char>>,
    pockets: ByColor<String>,
}

/// Size of a board, and the names of its squares.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Layout {
    rows: usize,
    columns: usize,
    /// Squares are a row and a column in digits, not a file and a rank.
    numbered: bool,
}

impl Layout {
    fn of(kind: GameKind) -> Layout {
        let (rows, columns) = kind.with(Size);
        Layout { rows, columns, numbered: kind == GameKind::Tuc }
    }
}

/// Rows and columns of a board.
struct Size;

impl Visitor for Size {
    type Out = (usize, usize);
    fn visit<G: Tactics>(self, start: G) -> (usize, usize) {
        (start.rows(), start.columns())
    }
}

impl Diagram {
    /// Reads a position of this game as [`Game::print`](crate::Game::print) writes it. `None` if it is none.
    pub fn read(kind: GameKind, position: &str) -> Option<Diagram> {
        let layout = Layout::of(kind);
        let placement = position.split_whitespace().next()?;
        let (rows, pocket) = placement.split_once('[').unwrap_or((placement, ""));
        let mut squares = Vec::with_capacity(layout.rows * layout.columns);
        for (row, text) in rows.split('/').enumerate() {
            for letter in text.chars() {
                match letter {
                    '1'..='9' => squares.extend((0..letter.to_digit(10)?).map(|_| None)),
                    '.' => squares.push(None),
                    // Marks a promoted piece.
                    '~' => {}
                    _ if letter.is_ascii_alphabetic() || letter == '*' => squares.push(Some(letter)),
                    _ => return None,
                }
            }
            if squares.len() != (row + 1) * layout.columns {
                return None;
            }
        }
        let pieces = || pocket.chars().filter(char::is_ascii_alphabetic);
        let white = pieces().filter(char::is_ascii_uppercase).collect();
        let black = pieces().filter(char::is_ascii_lowercase).collect();
        let is_whole = squares.len() == layout.rows * layout.columns;
        is_whole.then_some(Diagram { layout, squares, pockets: ByColor([white, black]) })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// The piece on a square as its letter, upper case for White; `*` is a prize.
    pub fn at(&self, row: usize, column: usize) -> Option<char> {
        let is_inside = row < self.layout.rows && column < self.layout.columns;
        self.squares.get(row * self.layout.columns + column).copied().flatten().filter(|_| is_inside)
    }

    /// Letters of the pieces that a side can drop.
    pub fn pocket(&self, color: Color) -> &str {
        &self.pockets[color]
    }

    /// The label of a row, at the side of the board.
    pub fn row_label(&self, row: usize) -> char {
        let number = if self.layout.numbered { row } else { self.layout.rows.saturating_sub(row) };
        char::from_digit(number as u32, 10).unwrap_or('?')
    }

    /// The label of a column, below the board.
    pub fn column_label(&self, column: usize) -> char {
        let first = if self.layout.numbered { '0' } else { 'a' };
        char::from_u32(u32::from(first) + column as u32).unwrap_or('?')
    }

    /// The name of a square, as moves are written.
    pub fn square(&self, row: usize, column: usize) -> String {
        let row = self.row_label(row);
        let column = self.column_label(column);
        String::from_iter(if self.layout.numbered { [row, column] } else { [column, row] })
    }

    /// Row and column of a square by its name.
    pub fn locate(&self, square: &str) -> Option<(usize, usize)> {
        let mut all =
            (0..self.layout.rows).flat_map(|row| (0..self.layout.columns).map(move |column| (row, column)));
        all.find(|&(row, column)| self.square(row, column) == square)
    }
}

impl fmt::Display for Diagram {
    /// In the style of Stockfish's command `d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!(" {}+\n", "+---".repeat(self.layout.columns));
        for row in 0..self.layout.rows {
            f.write_str(&line)?;
            for column in 0..self.layout.columns {
                write!(f, " | {}", self.at(row, column).unwrap_or(' '))?;
            }
            writeln!(f, " | {}", self.row_label(row))?;
        }
        f.write_str(&line)?;
        let labels = (0..self.layout.columns).map(|column| self.column_label(column));
        labels.into_iter().try_for_each(|label| write!(f, "   {label}"))?;
        Color::BOTH.into_iter().filter(|color| !self.pocket(*color).is_empty()).try_for_each(|color| {
            let name = if color == Color::White { "White" } else { "Black" };
            write!(f, "\n\nPocket of {name}: {}", self.pocket(color))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DynGame;

    #[test]
    fn every_game_has_a_diagram_and_each_move_its_squares() {
        for &kind in GameKind::ALL {
            let game = DynGame::begin(kind, None).unwrap();
            let diagram = Diagram::read(kind, &game.now()).unwrap_or_else(|| panic!("{}", game.now()));
            for row in 0..diagram.rows() {
                for column in 0..diagram.columns() {
                    assert_eq!(diagram.locate(&diagram.square(row, column)), Some((row, column)));
                }
            }
            let lower = diagram.at(diagram.rows() - 1, diagram.columns() / 2).unwrap();
            assert!(lower.is_ascii_uppercase(), "White is below in {}: {lower}", kind.name());
            assert_eq!(diagram.locate("z9"), None);
        }
    }

    #[test]
    fn small_boards_are_drawn_with_their_own_names() {
        let gardner = DynGame::begin(GameKind::Gardner, None).unwrap();
        let text = Diagram::read(GameKind::Gardner, &gardner.now()).unwrap().to_string();
        assert!(text.starts_with(" +---+---+---+---+---+\n | r | n | b | q | k | 5\n"), "{text}");
        let tuc = DynGame::begin(GameKind::Tuc, None).unwrap();
        let text = Diagram::read(GameKind::Tuc, &tuc.now()).unwrap().to_string();
        assert!(text.contains(" | 0\n") && text.ends_with("   0   1   2   3   4"), "{text}");
        let mini = DynGame::begin(GameKind::MinichessImcs, None).unwrap();
        let text = Diagram::read(GameKind::MinichessImcs, &mini.now()).unwrap().to_string();
        assert!(text.starts_with(" +---+---+---+---+---+\n | k | q | b | n | r | 6\n"), "{text}");
    }

    #[test]
    fn pockets_are_told_and_marks_of_promotion_are_not() {
        let text = "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQ~KBNR[Qpp] b KQkq - 0 1";
        let diagram = Diagram::read(GameKind::Crazyhouse, text).unwrap();
        assert_eq!((diagram.pocket(Color::White), diagram.pocket(Color::Black)), ("Q", "pp"));
        assert_eq!(diagram.at(7, 3), Some('Q'));
        assert!(diagram.to_string().ends_with("\n\nPocket of White: Q\n\nPocket of Black: pp"));
    }

    proptest! {
        #[test]
        fn garbage_is_none(text in ".{0,80}", kind in prop::sample::select(GameKind::ALL)) {
            let _ = Diagram::read(kind, &text);
        }
    }
}

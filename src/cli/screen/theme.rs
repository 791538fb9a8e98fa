//! Colours and pieces. The squares have colours of their own, on which white and black pieces can be told from each
//! other, whether the terminal is light or dark; squares differ in brightness, for the colour-blind.

use std::env;

use ratatui::style::{Color, Modifier, Style};

/// Style of boards.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Theme {
    /// Unicode pieces on coloured squares.
    Colours,
    /// Letters and marks only, upper case for White.
    Letters,
}

/// Colours of a square, all with a contrast of at least 3 to white and to black.
const LIGHT: Color = Color::Indexed(103);
const DARK: Color = Color::Indexed(60);
const LAST_MOVE: Color = Color::Indexed(136);
const SELECTED: Color = Color::Indexed(29);
const CURSOR: Color = Color::Indexed(131);

/// Marks of a square besides its piece.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) is_light: bool,
    pub(super) is_last_move: bool,
    pub(super) is_selected: bool,
    pub(super) is_cursor: bool,
    /// A selected piece can go there.
    pub(super) is_target: bool,
}

impl Theme {
    /// Letters if they are asked for, or if the user has turned colours off.
    pub(in crate::cli) fn choose(letters: bool) -> Theme {
        let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if letters || no_colour { Theme::Letters } else { Theme::Colours }
    }

    /// Style of an empty square.
    pub(super) fn square(self, mark: Mark) -> Style {
        if self == Theme::Letters {
            let reversed = mark.is_cursor || mark.is_selected;
            return if reversed { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        }
        Style::new().fg(Color::Indexed(16)).bg(match mark {
            Mark { is_cursor: true, .. } => CURSOR,
            Mark { is_selected: true, .. } => SELECTED,
            Mark { is_last_move: true, .. } => LAST_MOVE,
            Mark { is_light: true, .. } => LIGHT,
            _ => DARK,
        })
    }

    /// Character of a square, and its style.
    pub(super) fn content(self, piece: Option<char>, mark: Mark) -> (char, Style) {
        let style = self.square(mark);
        let Some(letter) = piece else {
            let empty = if self == Theme::Letters && !mark.is_light { '·' } else { ' ' };
            return (if mark.is_target { '•' } else { empty }, style);
        };
        match self {
            Theme::Letters => (letter, style),
            Theme::Colours => {
                let color = if letter.is_ascii_uppercase() { 231 } else { 16 };
                (glyph(letter), style.fg(Color::Indexed(color)).add_modifier(Modifier::BOLD))
            }
        }
    }

    /// Pieces in a line of text, as those of a pocket.
    pub(super) fn pieces(self, letters: &str) -> String {
        match self {
            Theme::Letters => letters.to_owned(),
            Theme::Colours => letters.chars().map(glyph).collect(),
        }
    }

    /// Style of what is to be seen first.
    pub(in crate::cli) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Style of what is chosen in a list or in the moves.
    pub(in crate::cli) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Style of what is less important.
    pub(in crate::cli) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }
}

/// Filled pieces for both sides: the colour tells them apart. A prize of TUC-Chess is a star.
fn glyph(letter: char) -> char {
    match letter.to_ascii_lowercase() {
        'k' => '♚',
        'q' => '♛',
        'r' => '♜',
        'b' => '♝',
        'n' => '♞',
        'p' => '♟',
        '*' => '★',
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of a colour of the 256, by WCAG.
    fn luminance(color: Color) -> f64 {
        let Color::Indexed(index) = color else { panic!("{color:?}") };
        let part = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
        let rgb = match index {
            16..=231 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(part),
            _ => panic!("{index}"),
        };
        let linear = rgb.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(one: Color, other: Color) -> f64 {
        let one = luminance(one) + 0.05;
        let other = luminance(other) + 0.05;
        (one / other).max(other / one)
    }

    #[test]
    fn pieces_of_both_sides_are_readable_on_every_square() {
        for square in [LIGHT, DARK, LAST_MOVE, SELECTED, CURSOR] {
            for piece in [16, 231] {
                let contrast = contrast(square, Color::Indexed(piece));
                assert!(contrast >= 3.0, "{square:?} and {piece}: {contrast:.2}");
            }
        }
        assert!(contrast(LIGHT, DARK) > 1.5);
    }

    #[test]
    fn sides_differ_by_colour_or_by_case() {
        let white = Some('N');
        let black = Some('n');
        let mark = Mark::default();
        let [one, other] = [white, black].map(|piece| Theme::Colours.content(piece, mark));
        assert_eq!((one.0, other.0), ('♞', '♞'));
        assert_ne!(one.1, other.1);
        assert_eq!(Theme::Letters.content(white, mark).0, 'N');
        assert_eq!(Theme::Letters.content(black, mark).0, 'n');
        assert_eq!(Theme::Colours.content(Some('*'), mark).0, '★');
    }
}

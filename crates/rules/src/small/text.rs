//! A small board as text: rows from the top of the page down, with `/` between them.

use std::fmt;

use super::{
    board::{Board, PieceKind},
    square::Square,
};
use crate::color::Color;

/// Invalid text of a board.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BoardError {
    #[error("expected {rows} rows of {columns} squares, with '/' between them")]
    Size { rows: usize, columns: usize },
    #[error("expected '.' or one of {0} on each square")]
    Letter(&'static str),
    #[error("a side has more than one king")]
    Kings,
    #[error("a pawn stands on its last row")]
    Pawn,
}

impl<K: PieceKind, const KINDS: usize, const COLUMNS: usize, const SQUARES: usize>
    Board<K, KINDS, COLUMNS, SQUARES>
{
    const ROWS: usize = SQUARES / COLUMNS;

    /// The row of the board that is written on this line of the text.
    fn row_of_line(line: usize) -> usize {
        if K::FORWARD > 0 { Self::ROWS - 1 - line } else { line }
    }

    /// Reads a board. `other` is told of each character that is no piece and no empty square, and says if it is known.
    pub(crate) fn parse(
        text: &str,
        letters: &'static str,
        mut other: impl FnMut(Square<COLUMNS, SQUARES>, char) -> bool,
    ) -> Result<Self, BoardError> {
        let size = BoardError::Size { rows: Self::ROWS, columns: COLUMNS };
        let lines: Vec<&str> = text.split('/').take(Self::ROWS + 1).collect();
        if lines.len() != Self::ROWS || lines.iter().any(|line| line.chars().count() != COLUMNS) {
            return Err(size);
        }
        let mut board = Self::empty();
        for (line, pieces) in lines.into_iter().enumerate() {
            for (column, letter) in pieces.chars().enumerate() {
                let square = Square::new(Self::row_of_line(line) * COLUMNS + column);
                let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
                match K::ALL.iter().find(|kind| kind.letter(color) == letter) {
                    Some(&kind) => board.put(square, color, kind),
                    None if letter == '.' || other(square, letter) => {}
                    None => return Err(BoardError::Letter(letters)),
                }
            }
        }
        board.check()
    }

    fn check(self) -> Result<Self, BoardError> {
        for color in Color::BOTH {
            if self.of_color(K::KING, color).count_ones() > 1 {
                return Err(BoardError::Kings);
            }
            if self.of_color(K::PAWN, color) & Self::row(Self::last_row(color)) != 0 {
                return Err(BoardError::Pawn);
            }
        }
        Ok(self)
    }

    /// Writes the board, with what `other` says for a square without a piece.
    pub(crate) fn print(&self, other: impl Fn(Square<COLUMNS, SQUARES>) -> char) -> String {
        let mut text = String::with_capacity(SQUARES + Self::ROWS);
        for line in 0..Self::ROWS {
            if line > 0 {
                text.push('/');
            }
            for column in 0..COLUMNS {
                let square = Square::new(Self::row_of_line(line) * COLUMNS + column);
                let piece = self.piece_at(square).map(|(color, kind)| kind.letter(color));
                text.push(piece.unwrap_or_else(|| other(square)));
            }
        }
        text
    }
}

impl<K: PieceKind, const KINDS: usize, const COLUMNS: usize, const SQUARES: usize> fmt::Display
    for Board<K, KINDS, COLUMNS, SQUARES>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(|_| '.'))
    }
}

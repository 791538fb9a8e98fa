//! The board as a widget of ratatui, in squares as large as the area allows.

use std::ops::RangeInclusive;

use ratatui::{buffer::Buffer, layout::Rect, style::Modifier, widgets::Widget};
use zeitnot_rules::{Color, Diagram};

use super::{
    picture,
    theme::{Mark, Theme},
    view::{Marks, Square, View},
};

/// Sizes of small squares, in columns and rows. A large one of n rows has 2n + 1 columns: the piece stands in the middle.
const SMALL: [(u16, u16); 2] = [(4, 2), (2, 1)];
/// Rows of large squares.
const LARGE: RangeInclusive<u16> = 3..=12;
/// Columns of the labels of the rows.
const LABELS: u16 = 2;

pub(super) struct BoardWidget<'v> {
    diagram: Diagram,
    bottom: Color,
    last_move: Vec<Square>,
    marks: &'v Marks,
    theme: Theme,
    /// Columns and rows of a square.
    cell: (u16, u16),
}

impl<'v> BoardWidget<'v> {
    /// `None` if there is no board to show.
    pub(super) fn new(view: &View<'_>, marks: &'v Marks, theme: Theme) -> Option<BoardWidget<'v>> {
        let diagram = view.diagram()?;
        let last_move = view.last_move().map(|ply| squares(&diagram, &ply.uci)).unwrap_or_default();
        let last_move = last_move.into_iter().flatten().collect();
        Some(BoardWidget { diagram, bottom: view.bottom, last_move, marks, theme, cell: SMALL[0] })
    }

    /// The same, in squares as large as the area allows. Large ones leave this many columns beside the board.
    pub(super) fn sized(self, area: Rect, beside: u16) -> Self {
        let rows = self.diagram.rows() as u16;
        let columns = self.diagram.columns() as u16;
        let fits = |&(width, height): &(u16, u16)| {
            let beside = if height < *LARGE.start() { 0 } else { beside };
            height * rows < area.height && width * columns + LABELS + beside <= area.width
        };
        let large = LARGE.rev().map(|height| (2 * height + 1, height));
        let cell = large.chain(SMALL).find(fits).unwrap_or(SMALL[SMALL.len() - 1]);
        BoardWidget { cell, ..self }
    }

    /// Columns and rows that the board takes.
    pub(super) fn size(&self) -> (u16, u16) {
        let (width, height) = self.cell;
        (LABELS + width * self.diagram.columns() as u16, 1 + height * self.diagram.rows() as u16)
    }

    /// Whether pieces are drawn larger than a character.
    fn has_pictures(&self) -> bool {
        let (width, height) = self.cell;
        self.theme == Theme::Colours && width >= picture::WIDTH && height >= picture::HEIGHT
    }

    /// The square that is shown in this row and column of the picture.
    fn square(&self, row: usize, column: usize) -> Square {
        oriented(&self.diagram, self.bottom, (row, column))
    }
}

/// Turns a square of the diagram into one of the picture with this side at the bottom, and back.
pub(in crate::cli) fn oriented(diagram: &Diagram, bottom: Color, (row, column): Square) -> Square {
    match bottom {
        Color::White => (row, column),
        Color::Black => {
            let turned = |at: usize, count: usize| count.saturating_sub(at + 1);
            (turned(row, diagram.rows()), turned(column, diagram.columns()))
        }
    }
}

/// The squares that a move leaves and reaches; a drop leaves none.
pub(in crate::cli) fn squares(diagram: &Diagram, mv: &str) -> [Option<Square>; 2] {
    let part = |range| mv.get(range).and_then(|name| diagram.locate(name));
    [part(0..2), part(2..4)]
}

impl Widget for BoardWidget<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (width, height) = self.cell;
        let rows = self.diagram.rows();
        let columns = self.diagram.columns();
        let mut put = |x: u16, y: u16, symbol: char, style| {
            // Outside of the area where the terminal is smaller than the board.
            if x < area.width
                && y < area.height
                && let Some(cell) = buffer.cell_mut((area.x + x, area.y + y))
            {
                cell.set_char(symbol).set_style(style);
            }
        };
        for row in 0..rows {
            let top = row as u16 * height;
            for column in 0..columns {
                let square = self.square(row, column);
                let mark = Mark {
                    is_light: (square.0 + square.1).is_multiple_of(2),
                    is_last_move: self.last_move.contains(&square),
                    is_selected: self.marks.selected == Some(square),
                    is_cursor: self.marks.cursor == Some(square),
                    is_target: self.marks.targets.contains(&square),
                };
                let left = LABELS + column as u16 * width;
                for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    put(left + x, top + y, ' ', self.theme.square(mark));
                }
                let piece = self.diagram.at(square.0, square.1);
                let (symbol, style) = self.theme.content(piece, mark);
                let x = left + width / 2 - u16::from(width == 2);
                let y = top + height / 2;
                let picture = piece.filter(|_| self.has_pictures()).and_then(picture::rows);
                if let Some(rows) = &picture {
                    let x = x - picture::WIDTH / 2;
                    let y = top + (height - picture::HEIGHT).div_ceil(2);
                    for (y, row) in (y..).zip(rows) {
                        (x..).zip(row.chars()).for_each(|(x, pixels)| put(x, y, pixels, style));
                    }
                } else {
                    put(x, y, symbol, style);
                }
                if piece.is_some() && mark.is_target {
                    let x = if picture.is_some() { left + width - 1 } else { x + 1 };
                    put(x, y, '•', style.remove_modifier(Modifier::BOLD));
                }
            }
            let label = self.diagram.row_label(self.square(row, 0).0);
            put(0, top + height / 2, label, self.theme.faint());
        }
        for column in 0..columns {
            let label = self.diagram.column_label(self.square(0, column).1);
            let x = LABELS + column as u16 * width + width / 2 - u16::from(width == 2);
            put(x, rows as u16 * height, label, self.theme.faint());
        }
    }
}

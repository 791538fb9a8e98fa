//! Games drawn in the terminal, for `zeitnot board` and `zeitnot watch`.
//!
//! [`view`] is what is shown of a game, without any drawing; [`board`], with [`picture`], and [`panel`] draw it by
//! ratatui; [`terminal`] takes the terminal over and gives it back.

pub(super) mod board;
pub(super) mod panel;
mod picture;
pub(super) mod terminal;
pub(super) mod theme;
pub(super) mod view;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
};

use board::BoardWidget;
use theme::Theme;
use view::{Marks, View};

/// Columns of the panel beside the board, at least.
const MIN_PANEL: u16 = 22;
/// Columns of the panel, at most.
const MAX_PANEL: u16 = 48;
/// Columns between the board and the panel.
const GAP: u16 = 2;

/// Lines of a terminal of this size.
#[cfg(test)]
pub(super) fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> Vec<String> {
    let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(width, height)).unwrap();
    terminal.draw(draw).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

/// Draws a game: the board, and beside it the players, their clocks, the evaluation and the moves.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, view: &View<'_>, marks: &Marks, theme: Theme) {
    let Some(widget) = BoardWidget::new(view, marks, theme) else {
        frame.render_widget(format!("no board for {}", view.game.summary.fen), area);
        return;
    };
    let widget = widget.sized(area, GAP + MIN_PANEL);
    let (width, height) = widget.size();
    let has_panel = area.width >= width + GAP + MIN_PANEL;
    let columns = [Constraint::Length(width), Constraint::Length(GAP), Constraint::Max(MAX_PANEL)];
    let [left, _, right] = Layout::horizontal(columns).areas(area);
    if has_panel {
        panel::draw(frame, Rect { height: height.min(right.height), ..right }, view, theme);
    }
    frame.render_widget(widget, left);
}

//! Draws the game at the table.

use std::time::Instant;

use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    text::{Line, Span},
};

use super::app::App;
use crate::cli::screen::{self, theme::Theme};

const KEYS: &str = "^T take back  ^D draw  ^R resign  ^F flip  ^N new  ^Q quit  Tab completes";

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, theme: Theme, now: Instant) {
    let rows = [Constraint::Min(1), Constraint::Length(1), Constraint::Length(1), Constraint::Length(1)];
    let [board, message, input, keys] = Layout::vertical(rows).areas(frame.area());
    screen::draw(frame, board, &app.view(now), &app.marks(), theme);
    frame.render_widget(Line::raw(app.message.as_str()), message);
    let typed = Line::from(vec![
        Span::raw("move: "),
        Span::styled(app.input.text(), theme.strong()),
        Span::styled(" ", theme.chosen()),
        Span::styled(format!("  {}", app.hint()), theme.faint()),
    ]);
    frame.render_widget(typed, input);
    frame.render_widget(Line::styled(KEYS, theme.faint()), keys);
}

//! Draws the list of games, or the one that is watched.

use std::time::Instant;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::Line,
};
use zeitnot_arena::live::view::GameState;

use super::app::{App, Entry};
use crate::cli::{
    live::clock,
    screen::{self, panel::plain, theme::Theme, view::Marks},
};

const LIST_KEYS: &str = "↑ ↓ choose  Enter watch  q quit";
const GAME_KEYS: &str = "← → step  End latest  f flip  Esc list  q quit";

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, theme: Theme, now: Instant) {
    let rows = [Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)];
    let [main, message, keys] = Layout::vertical(rows).areas(frame.area());
    let help = match app.view(now) {
        Some(view) => {
            screen::draw(frame, main, &view, &Marks::default(), theme);
            GAME_KEYS
        }
        None => {
            list(frame, main, app, theme, now);
            LIST_KEYS
        }
    };
    frame.render_widget(Line::raw(app.message.as_str()), message);
    frame.render_widget(Line::styled(help, theme.faint()), keys);
}

fn list(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme, now: Instant) {
    if app.games.is_empty() {
        let told = if app.is_connected && !app.is_awaiting() { "No game has begun yet." } else { "" };
        frame.render_widget(Line::raw(told), area);
        return;
    }
    let height = usize::from(area.height);
    let first = (app.chosen + 1).saturating_sub(height);
    for ((at, entry), row) in app.games.iter().enumerate().skip(first).zip(area.rows()) {
        let text = line(entry, usize::from(area.width), now);
        let style = if at == app.chosen { theme.chosen() } else { Default::default() };
        frame.render_widget(Line::styled(text, style), row);
    }
}

/// `alice 0:59.9 – bob 1:00.0    12 plies  class`
fn line(entry: &Entry, width: usize, now: Instant) -> String {
    let summary = &entry.summary;
    let name = |name: &str| plain(name).chars().take(20).collect::<String>();
    let (white, black) = (name(&summary.white.name), name(&summary.black.name));
    let state = match (summary.state, entry.clocks(now)) {
        (GameState::Ended, _) => {
            let [result, reason] =
                [&summary.result, &summary.reason].map(|it| plain(it.as_deref().unwrap_or("")));
            format!("{result} {reason}")
        }
        (GameState::Running, Some([white, black])) => format!("{} – {}", clock(white), clock(black)),
        (GameState::Running, None) => "running".to_owned(),
    };
    let place = summary.tournament.as_deref().unwrap_or(&summary.kind);
    let text = format!("{white:>20} – {black:<20}  {state}  {}", plain(place));
    text.chars().take(width).collect()
}

//! Players, clocks, evaluation and moves beside the board.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::Style,
    text::{Line, Span},
};
use zeitnot_host::live::view::Ply;
use zeitnot_rules::Color;
use zeitnot_wire::printable;

use super::{
    theme::Theme,
    view::{MoveRow, View, score_text, white_share},
};
use crate::cli::{live::clock, table::fold};

/// Columns of a move in the list, and of the score beside it.
const MOVE: usize = 9;
const SCORE: usize = 8;
/// Columns of its number.
const NUMBER: usize = 5;
/// Lines of the expected moves, and rows of a panel that has room for twice as many.
const VARIATION: u16 = 2;
const TALL: u16 = 24;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, view: &View<'_>, theme: Theme) {
    let variation = if area.height < TALL { VARIATION } else { 2 * VARIATION };
    let rows = [
        Constraint::Length(2),
        Constraint::Length(2 + variation),
        Constraint::Min(0),
        Constraint::Length(1),
        Constraint::Length(2),
    ];
    let [top, eval, moves, end, bottom] = Layout::vertical(rows).areas(area);
    let width = usize::from(area.width);
    render_lines(
        frame,
        top,
        vec![player(view, !view.bottom, width, theme), pocket(view, !view.bottom, theme)],
    );
    render_lines(frame, eval, evaluation(view, width, theme));
    render_lines(frame, moves, move_list(view, (width, usize::from(moves.height)), theme));
    render_lines(frame, end, view.end().map(|end| Line::styled(end, theme.strong())).into_iter().collect());
    render_lines(
        frame,
        bottom,
        vec![pocket(view, view.bottom, theme), player(view, view.bottom, width, theme)],
    );
}

fn render_lines(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'_>>) {
    for (row, line) in area.rows().zip(lines) {
        frame.render_widget(line, row);
    }
}

/// `▶ alice (1500)     0:59.9`, with the clock at the right.
fn player<'l>(view: &View<'_>, color: Color, width: usize, theme: Theme) -> Line<'l> {
    let person = view.person(color);
    let rating = person.rating.map_or_else(String::new, |rating| format!(" ({rating})"));
    let (time, runs) = match view.clock(color) {
        Some((left, runs)) => (clock(left), runs),
        None => (String::new(), view.end().is_none() && view.side_to_move() == color && view.is_latest()),
    };
    let side = disc(color);
    let room = width.saturating_sub(time.chars().count() + 3);
    let name: String = format!("{}{rating}", plain(&person.name)).chars().take(room).collect();
    let marked = if runs { theme.strong() } else { Style::new() };
    Line::from(vec![
        Span::raw(format!("{side} ")),
        Span::styled(format!("{name:<room$}"), marked),
        Span::styled(format!(" {time}"), marked),
    ])
}

/// The side's colour.
fn disc(color: Color) -> char {
    if color == Color::White { '○' } else { '●' }
}

fn pocket<'l>(view: &View<'_>, color: Color, theme: Theme) -> Line<'l> {
    let pocket = view.diagram().map(|diagram| theme.pieces(diagram.pocket(color))).unwrap_or_default();
    Line::raw(if pocket.is_empty() { String::new() } else { format!("  {pocket}") })
}

/// A bar of White's prospects, the score with its side, and the expected moves.
fn evaluation<'l>(view: &View<'_>, width: usize, theme: Theme) -> Vec<Line<'l>> {
    let Some((after, thought)) = view.thought() else { return Vec::new() };
    let white = (white_share(thought.score) * width as f64).round() as usize;
    let bar = "█".repeat(white) + &"░".repeat(width.saturating_sub(white));
    let speed = thought.nps.map_or_else(String::new, |nps| format!("  {:.1} Mn/s", nps as f64 / 1e6));
    let origin = match thought.origin.as_str() {
        "search" => String::new(),
        other => format!("  {}", plain(other)),
    };
    let side = disc(view.number(after).1);
    let score = format!("{side} {}  depth {}{speed}{origin}", score_text(thought.score), thought.depth);
    let score = score.chars().take(width).collect::<String>();
    let moves = fold(&view.variation(after, &thought.pv), width, 0);
    let moves = moves.lines().map(|line| Line::styled(line.to_owned(), theme.faint()));
    [Line::raw(bar), Line::raw(score)].into_iter().chain(moves).collect()
}

/// The last full moves that fit, up to the shown one at least, with the scores of those who tell them.
fn move_list<'l>(view: &View<'_>, (width, height): (usize, usize), theme: Theme) -> Vec<Line<'l>> {
    let rows = view.move_rows();
    let is_shown =
        |moves: &[Option<(usize, &Ply)>; 2]| moves.iter().flatten().any(|(ply, _)| *ply == view.ply);
    let at = rows.iter().position(|row| is_shown(&row.moves)).unwrap_or(if view.ply == 0 {
        0
    } else {
        rows.len()
    });
    let end = rows.len().min((at + height / 2 + 1).max(height));
    let visible = &rows[end.saturating_sub(height)..end];
    let has_scores = view.game.plies.iter().any(|ply| ply.thought.is_some());
    let score = if has_scores && width >= NUMBER + 2 * (MOVE + SCORE) { SCORE } else { 0 };
    let line = |row: &MoveRow<'_>| {
        let mut spans = vec![Span::styled(format!("{:>3}. ", row.number), theme.faint())];
        let [white, black] = row.moves;
        spans.extend(cell(white, view.ply, score, theme));
        if black.is_some() {
            spans.extend(cell(black, view.ply, score, theme));
        }
        Line::from(spans)
    };
    visible.iter().map(line).collect()
}

/// A move of the list, and its score in this many columns.
fn cell<'l>(made: Option<(usize, &Ply)>, shown: usize, score: usize, theme: Theme) -> [Span<'l>; 3] {
    let Some((at, ply)) = made else {
        return [Span::raw("…"), Span::raw(" ".repeat(MOVE - 1 + score)), Span::raw("")];
    };
    let text: String = plain(&ply.san).chars().take(MOVE - 1).collect();
    let gap = " ".repeat(MOVE - text.chars().count());
    let told = ply.thought.as_ref().filter(|_| score > 0).map(|thought| score_text(thought.score));
    let style = if at == shown { theme.chosen() } else { Style::new() };
    let told = format!("{:<score$}", told.unwrap_or_default());
    [Span::styled(text, style), Span::raw(gap), Span::styled(told, theme.faint())]
}

/// Text of a server without what could change the terminal or deceive the eye.
pub(in crate::cli) fn plain(text: &str) -> String {
    printable(text, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_server_has_nothing_hidden() {
        assert_eq!(plain("\u{202e}ecila\u{1b}[2J\u{200b}"), "ecila[2J");
    }
}

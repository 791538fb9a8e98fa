//! Draws the list of games, or the one that is watched.

use std::time::Instant;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::Line,
    widgets::{Paragraph, Wrap},
};
use zeitnot_host::live::view::{GamePhase, Person};

use super::app::{App, Entry};
use crate::cli::{
    live::clock,
    screen::{
        self,
        panel::plain,
        theme::Theme,
        view::{Marks, View},
    },
};

const LIST_KEYS: &str = "↑ ↓ choose  Enter watch  q quit";
/// Columns of a name in the list.
const NAME: usize = 18;
const GAME_KEYS: &str = "← → step  End latest  f flip  Esc list  q quit";

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, theme: Theme, now: Instant) {
    let rows = [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)];
    let [head, main, message, keys] = Layout::vertical(rows).areas(frame.area());
    let (heading, help) = match app.view(now) {
        Some(view) => {
            screen::draw(frame, main, &view, &Marks::default(), theme);
            (heading(&view), GAME_KEYS)
        }
        None => {
            list(frame, main, app, theme, now);
            let columns = row(["White", "Black"], "clocks or result", "move", "tournament");
            (if app.games.is_empty() { format!("Games at {}", app.page) } else { columns }, LIST_KEYS)
        }
    };
    frame.render_widget(Line::styled(heading, theme.strong()), head);
    frame.render_widget(Line::raw(app.message.as_str()), message);
    frame.render_widget(Line::styled(help, theme.faint()), keys);
}

/// `alice (1500) – bob  class, round 3  180+2`
fn heading(view: &View<'_>) -> String {
    let summary = &view.game.summary;
    let name = |person: &Person| {
        let rating = person.rating.map_or_else(String::new, |rating| format!(" ({rating})"));
        shortened(&person.name) + &rating
    };
    format!("{} – {}  {}", name(&summary.white), name(&summary.black), plain(&view.occasion()))
}

fn list(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme, now: Instant) {
    if app.games.is_empty() {
        let told = if app.is_lost {
            format!(
                "No arena answers at {}. Does `zeitnot arena` run there, with `listen` in [arena.web] \
                 set to this address? Another one is watched by `zeitnot watch --server http://HOST:PORT`.",
                app.page
            )
        } else if app.is_connected && !app.is_awaiting() {
            "No game has begun yet.".to_owned()
        } else {
            String::new()
        };
        frame.render_widget(Paragraph::new(told).wrap(Wrap::default()), area);
        return;
    }
    let height = usize::from(area.height);
    let first = (app.chosen + 1).saturating_sub(height);
    for ((at, entry), row) in app.games.iter().enumerate().skip(first).zip(area.rows()) {
        let style = if at == app.chosen { theme.chosen() } else { Default::default() };
        frame.render_widget(Line::styled(line(entry, now), style), row);
    }
}

/// `alice – bob  0:59.9 – 1:00.0  12  class`
fn line(entry: &Entry, now: Instant) -> String {
    let summary = &entry.summary;
    let names = [&summary.white, &summary.black].map(|person| shortened(&person.name));
    let state = match (summary.state, entry.clocks(now)) {
        (GamePhase::Ended, _) => {
            let [result, reason] =
                [&summary.result, &summary.reason].map(|it| plain(it.as_deref().unwrap_or("")));
            format!("{result} {reason}")
        }
        (GamePhase::Running, Some([white, black])) => format!("{} – {}", clock(white), clock(black)),
        (GamePhase::Running, None) => "running".to_owned(),
    };
    let place = plain(summary.tournament.as_deref().unwrap_or(&summary.kind));
    row(names.each_ref().map(String::as_str), &state, &summary.ply.div_ceil(2).to_string(), &place)
}

fn row([white, black]: [&str; 2], state: &str, number: &str, place: &str) -> String {
    format!("{white:>NAME$} – {black:<NAME$}  {state:<17}  {number:>4}  {place}")
}

fn shortened(name: &str) -> String {
    plain(name).chars().take(NAME).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::watch::client::News;

    /// Lines of a terminal of 80 columns and 24 rows after these messages of the arena.
    fn drawn(messages: &[Value]) -> Vec<String> {
        let mut app = App::new("http://127.0.0.1:8080".into(), None);
        let now = Instant::now();
        if !messages.is_empty() {
            app.news(News::Connected, now);
        }
        for message in messages {
            app.news(News::Message(serde_json::from_value(message.clone()).unwrap()), now);
        }
        shown(&app, now)
    }

    fn shown(app: &App, now: Instant) -> Vec<String> {
        screen::drawn(80, 24, |frame| draw(frame, app, Theme::Letters, now))
    }

    const START: &str = "r1bqkbnr/pppppppp/2n5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 12";

    fn game() -> Value {
        let person = |name: &str, rating: Value| json!({"name": name, "rating": rating, "bot": true});
        json!({
            "id": "a", "source": "contest", "kind": "chess", "tournament": "class", "round": 3,
            "white": person("alice", json!(1500)), "black": person("bob", Value::Null), "time_control": "180+2",
            "state": "running", "result": null, "reason": null, "fen": START, "last_move": null,
            "clocks": {"white_ms": 60_000, "black_ms": 59_000, "running": null}, "ply": 0,
            "started": "2026-11-22T20:00:00Z", "start_fen": START, "plies": [],
        })
    }

    fn thought(ply: usize, cp: i32, pv: &[&str]) -> Value {
        let thought =
            json!({"score": {"cp": cp}, "depth": 9, "nodes": 9, "nps": 9, "pv": pv, "origin": "search"});
        json!({"type": "thought", "id": "a", "ply": ply, "side": "white", "thought": thought})
    }

    #[test]
    fn a_game_has_a_heading_numbers_and_scores() {
        let after = "r1bqkbnr/pppppppp/2n5/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 12";
        let made =
            json!({"uci": "d2d4", "san": "d4", "fen": after, "spent_ms": 1, "left_ms": 1, "thought": null});
        let lines = drawn(&[
            json!({"type": "game", "game": game()}),
            thought(0, 31, &["d2d4"]),
            json!({"type": "move", "id": "a", "ply": 1, "move": made, "clocks": null}),
            thought(1, -12, &["d7d5", "e4d5", "d8d5", "zzz"]),
        ]);
        assert_eq!(lines[0], "alice (1500) – bob  class, round 3  180+2", "{lines:#?}");
        let all = lines.join("\n");
        for part in [" 12. d4       +0.31", "● -0.12  depth 9", "12...d5 13.exd5 Qxd5"] {
            assert!(all.contains(part), "{part} in {all}");
        }
    }

    #[test]
    fn the_list_says_what_its_columns_are() {
        let mut summary = game();
        (summary["ply"], summary["tournament"]) = (json!(7), json!("class-of-2026"));
        let lines = drawn(&[json!({"type": "games", "games": [summary]})]);
        let expected = [
            "             White – Black               clocks or result   move  tournament",
            "             alice – bob                 1:00 – 0:59.0         4  class-of-2026",
        ];
        assert_eq!(lines[..2], expected, "{lines:#?}");
    }

    #[test]
    fn without_an_arena_it_says_where_it_looked_and_what_to_do() {
        let mut app = App::new("http://127.0.0.1:8080".into(), None);
        let now = Instant::now();
        assert!(!shown(&app, now).join(" ").contains("No arena"), "it has not tried yet");
        app.news(News::Lost("Connection refused (os error 111)".into()), now);
        let lines = shown(&app, now);
        let all = lines.join(" ");
        for part in
            ["No arena answers at http://127.0.0.1:8080.", "`zeitnot arena`", "--server http://HOST:PORT"]
        {
            assert!(all.contains(part), "{part} in {lines:#?}");
        }
        let told = "not connected to http://127.0.0.1:8080: Connection refused; trying again";
        assert_eq!(lines[22], told);
    }
}

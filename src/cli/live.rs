//! Live lines: one line a game on the terminal with running clocks, the last move and our evaluation.
//!
//! Nothing is drawn if stderr is not a terminal. Log lines appear above: see `log`.

use std::{
    collections::{HashMap, VecDeque},
    thread,
    time::{Duration, Instant},
};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot},
    time::{MissedTickBehavior, interval},
};

use zeitnot_bot::{GameStatus, MoveOrigin};
use zeitnot_engine::{Score, priority};
use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::Clocks;
use zeitnot_wire::printable;

use super::{CliError, io_error};

/// Maximum number of games shown.
const MAX_LINES: usize = 16;
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum length of a name or move in characters.
const MAX_TEXT: usize = 40;
/// Maximum lengths of names to try on a narrow terminal.
const SHORTER: [usize; 8] = [24, 20, 16, 12, 10, 8, 6, 5];
/// Updates of a game are ignored for this long after its end, as they come from its other player. Later ones are of a
/// suspended game that was resumed.
const LATE_UPDATES: Duration = Duration::from_secs(1);

/// Shows the running games.
#[derive(Debug, Default)]
pub(super) struct Live {
    lines: MultiProgress,
    games: HashMap<Id, (ProgressBar, Shown)>,
    /// Games that have ended, the latest first, and when.
    ended: VecDeque<(Id, Instant)>,
}

/// Server's id of a game, which two servers may share, and its players.
type Id = (String, ByColor<String>);

impl Live {
    /// The lines, for the log, which hides them while it writes.
    pub(super) fn lines(&self) -> &MultiProgress {
        &self.lines
    }

    /// Shows the updates on a thread of its own, so that a stopped terminal delays no move. The future ends when all
    /// senders are gone and the lines are cleared.
    pub(super) fn show(
        self,
        news: mpsc::Receiver<GameStatus>,
    ) -> Result<impl Future<Output = ()> + Send + use<>, CliError> {
        let failed = io_error("cannot start the thread of the live lines");
        let runtime = Builder::new_current_thread().enable_time().build().map_err(&failed)?;
        let (cleared, done) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("live".into()).spawn(move || {
            priority::usual();
            runtime.block_on(self.run(news));
            drop(cleared);
        });
        thread.map_err(failed)?;
        Ok(async move {
            // It is dropped, never sent.
            let _ = done.await;
        })
    }

    async fn run(mut self, mut news: mpsc::Receiver<GameStatus>) {
        let mut tick = interval(REDRAW_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let visible = !self.lines.is_hidden();
        loop {
            tokio::select! {
                news = news.recv() => match news {
                    Some(news) if visible => self.update(news, Instant::now()),
                    Some(_) => {}
                    None => break,
                },
                _ = tick.tick(), if !self.games.is_empty() => self.draw(),
            }
        }
        let _ = self.lines.clear();
    }

    fn update(&mut self, news: GameStatus, now: Instant) {
        let id = (news.game.clone(), news.names.clone());
        if news.result.is_some() {
            if let Some((bar, _)) = self.games.remove(&id) {
                bar.finish_and_clear();
            }
            self.ended.truncate(MAX_LINES);
            self.ended.push_front((id, now));
            return;
        }
        let is_late = |at: Instant| now.saturating_duration_since(at) < LATE_UPDATES;
        if self.ended.iter().any(|(ended, at)| *ended == id && is_late(*at)) {
            return;
        }
        if let Some((_, shown)) = self.games.get_mut(&id) {
            shown.update(&news);
        } else if self.games.len() < MAX_LINES {
            let bar = self.lines.add(ProgressBar::no_length());
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            self.games.insert(id, (bar, Shown::new(&news)));
        }
    }

    fn draw(&self) {
        let now = Instant::now();
        let width = usize::from(Term::stderr().size().1);
        for (bar, shown) in self.games.values() {
            bar.set_message(shown.fitting(now, width));
        }
    }
}

/// State of a game from the updates of its players.
#[derive(Debug)]
struct Shown {
    names: ByColor<String>,
    clocks: Option<Clocks>,
    to_move: Color,
    ply: usize,
    last_move: Option<String>,
    /// Score and depth of each player of ours, from its own view.
    evals: ByColor<Option<(Score, u16)>>,
    /// Source of each player's last move, if it was not the search.
    sources: ByColor<Option<&'static str>>,
}

impl Shown {
    fn new(news: &GameStatus) -> Shown {
        let mut shown = Shown {
            names: ByColor(Color::BOTH.map(|side| printable(&news.names[side], MAX_TEXT))),
            clocks: None,
            to_move: news.to_move,
            ply: 0,
            last_move: None,
            evals: ByColor::default(),
            sources: ByColor::default(),
        };
        shown.update(news);
        shown
    }

    /// Applies an update of one player; an older one changes only that player's evaluation.
    fn update(&mut self, news: &GameStatus) {
        self.evals[news.side] = news.eval.or(self.evals[news.side]);
        self.sources[news.side] = news.origin.and_then(MoveOrigin::source);
        if news.clocks.map(|clocks| clocks.read_at) >= self.clocks.map(|clocks| clocks.read_at) {
            self.clocks = news.clocks;
        }
        if news.ply >= self.ply {
            self.ply = news.ply;
            self.to_move = news.to_move;
            self.last_move =
                news.last_move.as_deref().map(|mv| printable(mv, MAX_TEXT)).or(self.last_move.take());
        }
    }

    /// The line with the longest names that fit, or with the shortest.
    fn fitting(&self, now: Instant, width: usize) -> String {
        let mut line = self.line(now, MAX_TEXT);
        for max_name in SHORTER {
            if line.chars().count() <= width {
                break;
            }
            line = self.line(now, max_name);
        }
        line
    }

    /// `alice *0:59.9  bob 1:00  12... Nf6  alice +0.31/14`. With shortened names, evaluations are marked by colour.
    fn line(&self, now: Instant, max_name: usize) -> String {
        let mut line = String::new();
        let names = ByColor(Color::BOTH.map(|side| short(&self.names[side], max_name)));
        for side in Color::BOTH {
            let mark = if side == self.to_move { "*" } else { " " };
            let clock = self.left(side, now).map(clock).unwrap_or_default();
            line.push_str(&format!("{} {mark}{clock:<7} ", names[side]));
        }
        if let Some(mv) = &self.last_move {
            line.push_str(&format!(" {}{mv} ", number(self.ply)));
        }
        let is_short = max_name < MAX_TEXT;
        let thinkers = if is_short { ByColor(["w", "b"].map(str::to_owned)) } else { names };
        for side in Color::BOTH {
            match (self.sources[side], self.evals[side]) {
                (Some(source), _) => line.push_str(&format!(" {} {source}", thinkers[side])),
                (None, Some((score, depth))) => {
                    line.push_str(&format!(" {} {score}/{depth}", thinkers[side]));
                }
                (None, None) => {}
            }
        }
        line
    }

    /// Time left; the clock of the side to move has run on since it was read.
    fn left(&self, side: Color, now: Instant) -> Option<Duration> {
        let clocks = self.clocks?;
        let gone = now.saturating_duration_since(clocks.read_at);
        let running = if side == self.to_move { gone } else { Duration::ZERO };
        Some(clocks.left[side].saturating_sub(running))
    }
}

/// Formats a clock, with tenths below a minute and hours if there are any.
pub(super) fn clock(left: Duration) -> String {
    let seconds = left.as_secs();
    let hours = seconds / 3600;
    let minutes = seconds / 60 % 60;
    match (hours, minutes) {
        (0, 0) => format!("0:{:02}.{}", seconds, left.subsec_millis() / 100),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// Number of the last move after this many plies: `12.` for White, `12...` for Black.
fn number(ply: usize) -> String {
    format!("{}{}", ply.div_ceil(2), if ply % 2 == 1 { ". " } else { "... " })
}

fn short(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use zeitnot_bot::GameLine;
    use zeitnot_rules::GameKind;

    use super::*;

    pub(in crate::cli) fn news(side: Color, ply: usize, read_at: Instant) -> GameStatus {
        GameStatus {
            game: "g".into(),
            side,
            names: ByColor(["\u{202e}alice".into(), "bob\u{1b}[2J".into()]),
            clocks: Some(Clocks {
                left: ByColor([Duration::from_millis(61_500), Duration::from_millis(9_990)]),
                increment: Duration::ZERO,
                moves_to_go: None,
                resolution: Duration::ZERO,
                read_at,
            }),
            to_move: if ply.is_multiple_of(2) { Color::White } else { Color::Black },
            ply,
            last_move: (ply > 0).then(|| "Nf3".into()),
            eval: Some((Score::cp(31), 14)),
            origin: Some(MoveOrigin::Searched),
            thought: None,
            result: None,
            outcome: None,
            line: Arc::new(GameLine {
                server: "https://lichess.org".into(),
                kind: GameKind::Chess,
                start: None,
                time_control: None,
                moves: Vec::new(),
            }),
        }
    }

    #[test]
    fn two_players_share_a_line_and_the_clock_of_the_side_to_move_runs() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Color::White, 0, start));
        assert_eq!(shown.line(start, MAX_TEXT), "alice *1:01    bob[2J  0:09.9   alice +0.31/14");
        shown.update(&GameStatus { eval: Some((Score::mated_in(4), 9)), ..news(Color::Black, 23, start) });
        let line = shown.line(start + Duration::from_secs(1), MAX_TEXT);
        assert_eq!(line, "alice  1:01    bob[2J *0:08.9   12. Nf3  alice +0.31/14 bob[2J #-2/9");
        shown.update(&GameStatus { origin: Some(MoveOrigin::Book), ..news(Color::White, 24, start) });
        let line = shown.line(start, MAX_TEXT);
        assert!(line.ends_with("  alice book bob[2J #-2/9"), "{line}");
    }

    #[test]
    fn older_updates_change_nothing() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Color::White, 8, start + Duration::from_secs(1)));
        let before = shown.line(start, MAX_TEXT);
        shown.update(&GameStatus { eval: None, last_move: None, ..news(Color::White, 7, start) });
        assert_eq!(shown.line(start, MAX_TEXT), before);
    }

    #[test]
    fn a_line_fits_a_narrow_terminal() {
        let start = Instant::now();
        let names =
            ByColor(["a_name_of_a_bot_that_is_quite_long".into(), "another_one_that_is_no_shorter".into()]);
        let shown = Shown::new(&GameStatus { names, ..news(Color::White, 24, start) });
        assert_eq!(shown.fitting(start, 60), "a_name_… *1:01    another…  0:09.9   12... Nf3  w +0.31/14");
        assert_eq!(shown.fitting(start, 200), shown.line(start, MAX_TEXT));
        for width in [60, 80, 100, 120, 160] {
            assert!(shown.fitting(start, width).chars().count() <= width);
        }
    }

    #[test]
    fn a_resumed_game_is_shown_again_and_late_updates_are_ignored() {
        let mut live = Live::default();
        let start = Instant::now();
        let late = start + LATE_UPDATES / 2;
        live.update(news(Color::White, 4, start), start);
        assert_eq!(live.games.len(), 1);
        live.update(GameStatus { result: Some("asleep".into()), ..news(Color::White, 5, start) }, start);
        live.update(news(Color::Black, 5, late), late);
        assert!(live.games.is_empty());
        live.update(news(Color::White, 6, start), start + LATE_UPDATES);
        assert_eq!(live.games.len(), 1);
    }

    #[test]
    fn clocks() {
        for (millis, text) in [(0, "0:00.0"), (59_999, "0:59.9"), (60_000, "1:00"), (3_661_000, "1:01:01")] {
            assert_eq!(clock(Duration::from_millis(millis)), text);
        }
        assert_eq!((number(1), number(2)), ("1. ".into(), "1... ".into()));
    }
}

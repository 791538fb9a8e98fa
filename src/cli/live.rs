//! One line a game on the terminal: both clocks ticking, the last move, and what we think of it.
//!
//! Where stderr is no terminal nothing is drawn. Log lines pass above: see `log`.

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

use super::CliError;

/// More games than this are played, but not shown.
const MOST_LINES: usize = 16;
/// How often the clocks tick.
const TICK: Duration = Duration::from_millis(200);
/// A name from outside may be longer; the line should not.
const LONGEST_TEXT: usize = 40;
/// Where the terminal is narrow, names have no more letters than this, the first of them that fits.
const SHORTER: [usize; 8] = [24, 20, 16, 12, 10, 8, 6, 5];
/// The other seat's last news are here by then. Later ones are of a game that goes on, as those do that slept.
const LAST_NEWS: Duration = Duration::from_secs(1);

/// Shows the running games.
#[derive(Debug, Default)]
pub struct Live {
    lines: MultiProgress,
    games: HashMap<Id, (ProgressBar, Shown)>,
    /// The latest to end, and when: the other seat's last news may still be on their way.
    ended: VecDeque<(Id, Instant)>,
}

/// Two servers can use the same name for a game, and two seats of one game bring news of the same.
type Id = (String, ByColor<String>);

impl Live {
    /// Nothing to show yet.
    pub fn new() -> Live {
        Live::default()
    }

    /// What log lines have to get past.
    pub fn lines(&self) -> &MultiProgress {
        &self.lines
    }

    /// Shows what is told, on a thread of its own: a terminal that is stopped keeps no answer from leaving.
    /// The result is done when nobody is left to tell anything and the terminal is tidy again.
    ///
    /// # Errors
    /// [`CliError::Io`] if there is no thread to be had.
    pub fn show(
        self,
        news: mpsc::Receiver<GameStatus>,
    ) -> Result<impl Future<Output = ()> + Send + use<>, CliError> {
        let error = |source| CliError::Io { doing: "cannot start the screen's thread", source };
        let runtime = Builder::new_current_thread().enable_time().build().map_err(error)?;
        let (tidy, done) = oneshot::channel::<()>();
        let screen = thread::Builder::new().name("screen".into());
        screen
            .spawn(move || {
                priority::usual();
                runtime.block_on(self.run(news));
                drop(tidy);
            })
            .map_err(error)?;
        Ok(async move {
            // It is dropped, never sent.
            let _ = done.await;
        })
    }

    async fn run(mut self, mut news: mpsc::Receiver<GameStatus>) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let visible = !self.lines.is_hidden();
        loop {
            tokio::select! {
                news = news.recv() => match news {
                    Some(news) if visible => self.hear(news, Instant::now()),
                    Some(_) => {}
                    None => break,
                },
                _ = tick.tick(), if !self.games.is_empty() => self.draw(),
            }
        }
        // Nothing can be done about a terminal that cannot be cleared.
        let _ = self.lines.clear();
    }

    fn hear(&mut self, news: GameStatus, now: Instant) {
        let id = (news.game.clone(), news.names.clone());
        if news.result.is_some() {
            if let Some((bar, _)) = self.games.remove(&id) {
                bar.finish_and_clear();
            }
            self.ended.truncate(MOST_LINES);
            self.ended.push_front((id, now));
            return;
        }
        let is_late = |at: Instant| now.saturating_duration_since(at) < LAST_NEWS;
        if self.ended.iter().any(|(ended, at)| *ended == id && is_late(*at)) {
            return;
        }
        if let Some((_, shown)) = self.games.get_mut(&id) {
            shown.hear(&news);
        } else if self.games.len() < MOST_LINES {
            let bar = self.lines.add(ProgressBar::no_length());
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            self.games.insert(id, (bar, Shown::new(&news)));
        }
    }

    fn draw(&self) {
        let (now, width) = (Instant::now(), usize::from(Term::stderr().size().1));
        for (bar, shown) in self.games.values() {
            bar.set_message(shown.fitting(now, width));
        }
    }
}

/// A game as all its news together tell it.
#[derive(Debug)]
struct Shown {
    names: ByColor<String>,
    clocks: Option<Clocks>,
    to_move: Color,
    ply: usize,
    last_move: Option<String>,
    /// What each side that we play thinks, for itself.
    evals: ByColor<Option<(Score, u16)>>,
    /// Who knew its last move, if no search of ours.
    sources: ByColor<Option<&'static str>>,
}

impl Shown {
    fn new(news: &GameStatus) -> Shown {
        let names = ByColor([clean(&news.names[Color::White]), clean(&news.names[Color::Black])]);
        let mut shown = Shown {
            names,
            clocks: None,
            to_move: news.to_move,
            ply: 0,
            last_move: None,
            evals: ByColor::default(),
            sources: ByColor::default(),
        };
        shown.hear(news);
        shown
    }

    /// News of one seat; those of the other may have told more already.
    fn hear(&mut self, news: &GameStatus) {
        self.evals[news.side] = news.eval.or(self.evals[news.side]);
        self.sources[news.side] = news.origin.and_then(MoveOrigin::source);
        if news.clocks.map(|clocks| clocks.read_at) >= self.clocks.map(|clocks| clocks.read_at) {
            self.clocks = news.clocks;
        }
        if news.ply >= self.ply {
            self.ply = news.ply;
            self.to_move = news.to_move;
            self.last_move = news.last_move.as_deref().map(clean).or(self.last_move.take());
        }
    }

    /// The line, with names that are short enough for it to fit, if there are such.
    fn fitting(&self, now: Instant, width: usize) -> String {
        let fits = |line: &String| line.chars().count() <= width;
        let shorter = || SHORTER.iter().map(|&longest| self.line(now, longest));
        Some(self.line(now, LONGEST_TEXT))
            .filter(fits)
            .or_else(|| shorter().find(fits))
            .or_else(|| shorter().next_back())
            .unwrap_or_default()
    }

    /// `alice *0:59.9  bob 1:00  12... Nf6  alice +0.31/14`, with names of at most so many letters. Where these are
    /// few, the colour says who thinks what.
    fn line(&self, now: Instant, longest: usize) -> String {
        let mut line = String::new();
        let names = ByColor(Color::BOTH.map(|side| short(&self.names[side], longest)));
        for side in Color::BOTH {
            let mark = if side == self.to_move { "*" } else { " " };
            let clock = self.left(side, now).map(clock).unwrap_or_default();
            line.push_str(&format!("{} {mark}{clock:<7} ", names[side]));
        }
        if let Some(mv) = &self.last_move {
            line.push_str(&format!(" {}{mv} ", number(self.ply)));
        }
        let is_short = longest < LONGEST_TEXT;
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

    /// The clock of the side to move runs on since it was read.
    fn left(&self, side: Color, now: Instant) -> Option<Duration> {
        let clocks = self.clocks?;
        let gone = now.saturating_duration_since(clocks.read_at);
        let running = if side == self.to_move { gone } else { Duration::ZERO };
        Some(clocks.left[side].saturating_sub(running))
    }
}

/// Hours only where there are some; tenths where they begin to count.
fn clock(left: Duration) -> String {
    let seconds = left.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("0:{:02}.{}", seconds, left.subsec_millis() / 100),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// `12.` for a move of White, `12...` for one of Black, after so many plies.
fn number(ply: usize) -> String {
    format!("{}{}", ply.div_ceil(2), if ply % 2 == 1 { ". " } else { "... " })
}

/// The name, or its first letters.
fn short(name: &str, longest: usize) -> String {
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    name.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// The terminal is not for others to write to.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(side: Color, ply: usize, read_at: Instant) -> GameStatus {
        GameStatus {
            game: "g".into(),
            side,
            names: ByColor(["alice".into(), "bob\u{1b}[2J".into()]),
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
            result: None,
        }
    }

    #[test]
    fn two_seats_make_one_line_and_the_clock_of_the_side_to_move_ticks() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Color::White, 0, start));
        assert_eq!(shown.line(start, LONGEST_TEXT), "alice *1:01    bob[2J  0:09.9   alice +0.31/14");
        shown.hear(&GameStatus { eval: Some((Score::mated_in(4), 9)), ..news(Color::Black, 23, start) });
        let line = shown.line(start + Duration::from_secs(1), LONGEST_TEXT);
        assert_eq!(line, "alice  1:01    bob[2J *0:08.9   12. Nf3  alice +0.31/14 bob[2J #-2/9");
        shown.hear(&GameStatus { origin: Some(MoveOrigin::Book), ..news(Color::White, 24, start) });
        let line = shown.line(start, LONGEST_TEXT);
        assert!(line.ends_with("  alice book bob[2J #-2/9"), "{line}");
    }

    #[test]
    fn older_news_change_nothing() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Color::White, 8, start + Duration::from_secs(1)));
        let before = shown.line(start, LONGEST_TEXT);
        shown.hear(&GameStatus { eval: None, last_move: None, ..news(Color::White, 7, start) });
        assert_eq!(shown.line(start, LONGEST_TEXT), before);
    }

    #[test]
    fn a_line_fits_a_narrow_terminal() {
        let start = Instant::now();
        let names =
            ByColor(["a_name_of_a_bot_that_is_quite_long".into(), "another_one_that_is_no_shorter".into()]);
        let shown = Shown::new(&GameStatus { names, ..news(Color::White, 24, start) });
        assert_eq!(shown.fitting(start, 60), "a_name_… *1:01    another…  0:09.9   12... Nf3  w +0.31/14");
        assert_eq!(shown.fitting(start, 200), shown.line(start, LONGEST_TEXT));
        for width in [60, 80, 100, 120, 160] {
            assert!(shown.fitting(start, width).chars().count() <= width);
        }
    }

    #[test]
    fn a_game_that_slept_is_shown_again_and_last_news_of_one_that_ended_are_not() {
        let (mut live, start) = (Live::new(), Instant::now());
        let late = start + LAST_NEWS / 2;
        live.hear(news(Color::White, 4, start), start);
        assert_eq!(live.games.len(), 1);
        live.hear(GameStatus { result: Some("asleep".into()), ..news(Color::White, 5, start) }, start);
        live.hear(news(Color::Black, 5, late), late);
        assert!(live.games.is_empty());
        live.hear(news(Color::White, 6, start), start + LAST_NEWS);
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

//! One line a game on the terminal: both clocks ticking, the last move, and what we think of it.
//!
//! Where stderr is no terminal nothing is drawn. Log lines pass above: see `log`.

use std::{
    collections::{HashMap, VecDeque},
    thread,
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot},
    time::{MissedTickBehavior, interval},
};

use super::CliError;
use crate::{
    bot::{How, News},
    engine::Score,
    game::{BySide, Side},
    priority,
    seat::Clocks,
};

/// More games than this are played, but not shown.
const MOST_LINES: usize = 16;
/// How often the clocks tick.
const TICK: Duration = Duration::from_millis(200);
/// A name from outside may be longer; the line should not.
const LONGEST_TEXT: usize = 40;

/// Shows the running games.
#[derive(Debug, Default)]
pub struct Live {
    lines: MultiProgress,
    games: HashMap<Id, (ProgressBar, Shown)>,
    /// The latest to end: the other seat's last news may still be on their way.
    ended: VecDeque<Id>,
}

/// Two servers can use the same name for a game, and two seats of one game bring news of the same.
type Id = (String, BySide<String>);

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
        news: mpsc::Receiver<News>,
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

    async fn run(mut self, mut news: mpsc::Receiver<News>) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let visible = !self.lines.is_hidden();
        loop {
            tokio::select! {
                news = news.recv() => match news {
                    Some(news) if visible => self.hear(news),
                    Some(_) => {}
                    None => break,
                },
                _ = tick.tick(), if !self.games.is_empty() => self.draw(),
            }
        }
        // Nothing can be done about a terminal that cannot be cleared.
        let _ = self.lines.clear();
    }

    fn hear(&mut self, news: News) {
        let id = (news.game.clone(), news.names.clone());
        if news.result.is_some() {
            if let Some((bar, _)) = self.games.remove(&id) {
                bar.finish_and_clear();
            }
            self.ended.truncate(MOST_LINES);
            self.ended.push_front(id);
            return;
        }
        if self.ended.contains(&id) {
            return;
        }
        if let Some((_, shown)) = self.games.get_mut(&id) {
            shown.hear(&news);
        } else if self.games.len() < MOST_LINES {
            let bar = self.lines.add(ProgressBar::no_length());
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            self.games.insert(id, (bar, Shown::new(&news)));
        }
    }

    fn draw(&self) {
        let now = Instant::now();
        for (bar, shown) in self.games.values() {
            bar.set_message(shown.line(now));
        }
    }
}

/// A game as all its news together tell it.
#[derive(Debug)]
struct Shown {
    names: BySide<String>,
    clocks: Option<Clocks>,
    to_move: Side,
    ply: usize,
    last_move: Option<String>,
    /// What each side that we play thinks, for itself.
    evals: BySide<Option<(Score, u16)>>,
    /// Who knew its last move, if no search of ours.
    sources: BySide<Option<&'static str>>,
}

impl Shown {
    fn new(news: &News) -> Shown {
        let names = BySide([clean(&news.names[Side::First]), clean(&news.names[Side::Second])]);
        let mut shown = Shown {
            names,
            clocks: None,
            to_move: news.to_move,
            ply: 0,
            last_move: None,
            evals: BySide::default(),
            sources: BySide::default(),
        };
        shown.hear(news);
        shown
    }

    /// News of one seat; those of the other may have told more already.
    fn hear(&mut self, news: &News) {
        self.evals[news.side] = news.eval.or(self.evals[news.side]);
        self.sources[news.side] = news.how.and_then(How::source);
        if news.clocks.map(|clocks| clocks.read_at) >= self.clocks.map(|clocks| clocks.read_at) {
            self.clocks = news.clocks;
        }
        if news.ply >= self.ply {
            self.ply = news.ply;
            self.to_move = news.to_move;
            self.last_move = news.last_move.as_deref().map(clean).or(self.last_move.take());
        }
    }

    /// `alice *0:59.9  bob 1:00  12... Nf6  alice +0.31/14`
    fn line(&self, now: Instant) -> String {
        let mut line = String::new();
        for side in Side::BOTH {
            let mark = if side == self.to_move { "*" } else { " " };
            let clock = self.left(side, now).map(clock).unwrap_or_default();
            line.push_str(&format!("{} {mark}{clock:<7} ", self.names[side]));
        }
        if let Some(mv) = &self.last_move {
            line.push_str(&format!(" {}{mv} ", number(self.ply)));
        }
        for side in Side::BOTH {
            match (self.sources[side], self.evals[side]) {
                (Some(source), _) => line.push_str(&format!(" {} {source}", self.names[side])),
                (None, Some((score, depth))) => {
                    line.push_str(&format!(" {} {score}/{depth}", self.names[side]));
                }
                (None, None) => {}
            }
        }
        line
    }

    /// The clock of the side to move runs on since it was read.
    fn left(&self, side: Side, now: Instant) -> Option<Duration> {
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

/// The terminal is not for others to write to.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(side: Side, ply: usize, read_at: Instant) -> News {
        News {
            game: "g".into(),
            side,
            names: BySide(["alice".into(), "bob\u{1b}[2J".into()]),
            clocks: Some(Clocks {
                left: BySide([Duration::from_millis(61_500), Duration::from_millis(9_990)]),
                increment: Duration::ZERO,
                moves_to_go: None,
                resolution: Duration::ZERO,
                read_at,
            }),
            to_move: if ply.is_multiple_of(2) { Side::First } else { Side::Second },
            ply,
            last_move: (ply > 0).then(|| "Nf3".into()),
            eval: Some((Score::cp(31), 14)),
            how: Some(How::Searched),
            result: None,
        }
    }

    #[test]
    fn two_seats_make_one_line_and_the_clock_of_the_side_to_move_ticks() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Side::First, 0, start));
        assert_eq!(shown.line(start), "alice *1:01    bob[2J  0:09.9   alice +0.31/14");
        shown.hear(&News { eval: Some((Score::mated_in(4), 9)), ..news(Side::Second, 23, start) });
        let line = shown.line(start + Duration::from_secs(1));
        assert_eq!(line, "alice  1:01    bob[2J *0:08.9   12. Nf3  alice +0.31/14 bob[2J #-2/9");
        shown.hear(&News { how: Some(How::Book), ..news(Side::First, 24, start) });
        let line = shown.line(start);
        assert!(line.ends_with("  alice book bob[2J #-2/9"), "{line}");
    }

    #[test]
    fn older_news_change_nothing() {
        let start = Instant::now();
        let mut shown = Shown::new(&news(Side::First, 8, start + Duration::from_secs(1)));
        let before = shown.line(start);
        shown.hear(&News { eval: None, last_move: None, ..news(Side::First, 7, start) });
        assert_eq!(shown.line(start), before);
    }

    #[test]
    fn clocks() {
        for (millis, text) in [(0, "0:00.0"), (59_999, "0:59.9"), (60_000, "1:00"), (3_661_000, "1:01:01")] {
            assert_eq!(clock(Duration::from_millis(millis)), text);
        }
        assert_eq!((number(1), number(2)), ("1. ".into(), "1... ".into()));
    }
}

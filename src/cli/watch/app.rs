//! State of `zeitnot watch`: the list of games, or one of them, without the terminal and without the connection.

use std::time::{Duration, Instant};

use zeitnot_host::live::view::{Clocks, Game, GamePhase, GameSummary, LiveMessage, Ply, Thought, Topic};
use zeitnot_rules::Color;

use super::client::News;
use crate::cli::screen::{panel::plain, terminal::Key, view::View};

/// Games in the list, at most.
const MAX_GAMES: usize = 200;

/// Games of an arena.
#[derive(Default)]
pub(super) struct App {
    /// Running games first, then the latest ended ones.
    pub(super) games: Vec<Entry>,
    /// Place of the cursor in the list.
    pub(super) chosen: usize,
    pub(super) open: Option<Open>,
    /// Id of a game that was asked for, and has not come.
    awaited: Option<String>,
    is_flipped: bool,
    pub(super) is_connected: bool,
    /// The last attempt to connect has failed.
    pub(super) is_lost: bool,
    /// Address of the arena's page.
    pub(super) page: String,
    pub(super) message: String,
}

/// Game of the list, and when its clocks were told.
pub(super) struct Entry {
    pub(super) summary: GameSummary,
    pub(super) told_at: Instant,
}

/// Game that is shown large.
pub(super) struct Open {
    game: Game,
    told_at: Instant,
    /// Ply that is looked at; `None` for the latest.
    ply: Option<usize>,
    /// Thought about the latest position.
    thought: Option<Thought>,
}

/// Request of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Watch(Topic),
    Quit,
}

impl App {
    /// Awaits the list of the arena with this page, or a game by its id.
    pub(super) fn new(page: String, game: Option<String>) -> App {
        App { awaited: game, message: format!("connecting to {page} …"), page, ..App::default() }
    }

    /// First subject to watch.
    pub(super) fn topic(&self) -> Topic {
        self.awaited.clone().map_or(Topic::Games, Topic::Game)
    }

    /// The game that is shown large.
    pub(super) fn view(&self, now: Instant) -> Option<View<'_>> {
        let open = self.open.as_ref()?;
        Some(View {
            game: &open.game,
            ply: open.ply.unwrap_or(open.game.plies.len()),
            bottom: if self.is_flipped { Color::Black } else { Color::White },
            age: now.saturating_duration_since(open.told_at),
            thought: open.thought.as_ref(),
        })
    }

    /// Returns whether a game was asked for, and has not come.
    pub(super) fn is_awaiting(&self) -> bool {
        self.awaited.is_some()
    }

    /// Takes news over. Returns a wish if a move is missing.
    pub(super) fn news(&mut self, news: News, now: Instant) -> Option<Wish> {
        match news {
            News::Connected => {
                (self.is_connected, self.is_lost) = (true, false);
                self.message.clear();
            }
            News::Lost(why) => {
                (self.is_connected, self.is_lost) = (false, true);
                // The number is for programmers.
                let why = plain(why.split(" (os error").next().unwrap_or_default());
                self.message = format!("not connected to {}: {why}; trying again", self.page);
            }
            News::Message(message) => return self.message(*message, now),
        }
        None
    }

    fn message(&mut self, message: LiveMessage, now: Instant) -> Option<Wish> {
        match message {
            LiveMessage::Games { games } => {
                let chosen = self.chosen_id();
                self.games = games.into_iter().map(|summary| Entry { summary, told_at: now }).collect();
                self.sort(chosen.as_deref());
            }
            LiveMessage::Begin { game } => {
                let chosen = self.chosen_id();
                self.games.retain(|entry| entry.summary.id != game.id);
                self.games.insert(0, Entry { summary: game, told_at: now });
                self.sort(chosen.as_deref());
            }
            LiveMessage::Game { game } => {
                self.awaited = None;
                let ply = self.open.as_ref().filter(|open| open.game.summary.id == game.summary.id);
                let ply = ply.and_then(|open| open.ply).map(|ply| ply.min(game.plies.len()));
                self.open = Some(Open { game, told_at: now, ply, thought: None });
            }
            LiveMessage::Move { id, ply, made, clocks } => return self.moved(&id, ply, made, clocks, now),
            LiveMessage::Thought { id, ply, thought, .. } => {
                if let Some(open) = self.opened(&id) {
                    let plies = &mut open.game.plies;
                    if ply == plies.len() {
                        open.thought = Some(thought);
                    } else if let Some(made) = plies.get_mut(ply) {
                        made.thought = Some(thought);
                    }
                }
            }
            LiveMessage::End { id, result, reason, clocks } => {
                let end = |summary: &mut GameSummary| {
                    summary.state = GamePhase::Ended;
                    (summary.result, summary.reason) = (Some(result.clone()), Some(reason.clone()));
                    summary.clocks = clocks.or(summary.clocks);
                };
                self.summaries(&id, now, end);
                self.sort(self.chosen_id().as_deref());
            }
            LiveMessage::Error { error } => self.message = plain(&error),
            LiveMessage::Tournament { .. }
            | LiveMessage::Deleted { .. }
            | LiveMessage::Bot { .. }
            | LiveMessage::Pong { .. } => {}
        }
        None
    }

    fn moved(
        &mut self,
        id: &str,
        ply: usize,
        mut made: Ply,
        clocks: Option<Clocks>,
        now: Instant,
    ) -> Option<Wish> {
        self.summaries(id, now, |summary| {
            summary.fen.clone_from(&made.fen);
            summary.last_move = Some(made.uci.clone());
            (summary.ply, summary.clocks) = (ply, clocks);
        });
        let open = self.opened(id)?;
        let thought = open.thought.take();
        let plies = &mut open.game.plies;
        if ply == plies.len() + 1 {
            made.thought = made.thought.or(thought);
        }
        // A takeback shortens the game; what is left out has to be asked for.
        if ply == 0 || ply > plies.len() + 1 {
            return Some(Wish::Watch(Topic::Game(id.to_owned())));
        }
        plies.truncate(ply - 1);
        plies.push(made);
        open.ply = open.ply.filter(|at| *at < ply);
        None
    }

    fn opened(&mut self, id: &str) -> Option<&mut Open> {
        self.open.as_mut().filter(|open| open.game.summary.id == id)
    }

    /// Changes a game in the list, and where it is shown large.
    fn summaries(&mut self, id: &str, now: Instant, mut change: impl FnMut(&mut GameSummary)) {
        if let Some(entry) = self.games.iter_mut().find(|entry| entry.summary.id == id) {
            change(&mut entry.summary);
            entry.told_at = now;
        }
        if let Some(open) = self.opened(id) {
            change(&mut open.game.summary);
            open.told_at = now;
        }
    }

    fn chosen_id(&self) -> Option<String> {
        self.games.get(self.chosen).map(|entry| entry.summary.id.clone())
    }

    /// Sorts running games before others, and puts the cursor on this game, or where it was.
    fn sort(&mut self, chosen: Option<&str>) {
        self.games.sort_by_key(|entry| entry.summary.state != GamePhase::Running);
        self.games.truncate(MAX_GAMES);
        let at = self.games.iter().position(|entry| Some(entry.summary.id.as_str()) == chosen);
        self.chosen = at.unwrap_or(self.chosen).min(self.games.len().saturating_sub(1));
    }

    pub(super) fn key(&mut self, key: Key) -> Option<Wish> {
        if matches!(key, Key::Escape | Key::Backspace)
            && (self.awaited.take().is_some() || self.open.is_some())
        {
            self.open = None;
            self.message.clear();
            return Some(Wish::Watch(Topic::Games));
        }
        match (key, &mut self.open) {
            (Key::Char('q') | Key::Control('q') | Key::Stop, _) => return Some(Wish::Quit),
            (Key::Char('f'), _) => self.is_flipped = !self.is_flipped,
            (Key::Up, None) => self.chosen = self.chosen.saturating_sub(1),
            (Key::Down, None) => self.chosen = (self.chosen + 1).min(self.games.len().saturating_sub(1)),
            (Key::Home, None) => self.chosen = 0,
            (Key::End, None) => self.chosen = self.games.len().saturating_sub(1),
            (Key::Enter | Key::Char(' '), None) => {
                let id = self.games.get(self.chosen)?.summary.id.clone();
                self.awaited = Some(id.clone());
                return Some(Wish::Watch(Topic::Game(id)));
            }
            (Key::Left | Key::Up, Some(open)) => open.step(-1),
            (Key::Right | Key::Down, Some(open)) => open.step(1),
            (Key::Home, Some(open)) => open.ply = Some(0),
            (Key::End, Some(open)) => open.ply = None,
            _ => {}
        }
        None
    }
}

impl Open {
    /// Looks at an earlier or later position; after the last one at the latest again.
    fn step(&mut self, by: isize) {
        let last = self.game.plies.len();
        let at = self.ply.unwrap_or(last).saturating_add_signed(by);
        self.ply = Some(at).filter(|at| *at < last);
    }
}

impl Entry {
    /// Time left on both clocks.
    pub(super) fn clocks(&self, now: Instant) -> Option<[Duration; 2]> {
        let clocks = self.summary.clocks?;
        let age = now.saturating_duration_since(self.told_at);
        let left = |color, ms| {
            let runs = clocks.running == Some(color) && self.summary.state == GamePhase::Running;
            Duration::from_millis(ms).saturating_sub(if runs { age } else { Duration::ZERO })
        };
        Some([left(Color::White, clocks.white_ms), left(Color::Black, clocks.black_ms)])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn summary(id: &str, state: &str) -> Value {
        let person = |name: &str| json!({"name": name, "rating": null, "bot": null});
        json!({
            "id": id, "source": "contest", "kind": "chess", "tournament": "class", "round": 1, "white": person("alice"),
            "black": person("bob\u{1b}[2J"), "time_control": "60+0", "state": state, "result": null, "reason": null,
            "fen": FENS[0], "last_move": null, "clocks": {"white_ms": 60_000, "black_ms": 60_000, "running": "white"},
            "ply": 0, "started": "2026-11-22T20:00:00Z",
        })
    }

    const FENS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    ];

    fn made(ply: usize) -> Value {
        let (uci, san) = [("e2e4", "e4"), ("c7c5", "c5")][ply - 1];
        json!({"uci": uci, "san": san, "fen": FENS[ply], "spent_ms": 1, "left_ms": 50_000, "thought": null})
    }

    fn tell(app: &mut App, message: Value) -> Option<Wish> {
        app.news(News::Message(Box::new(serde_json::from_value(message).unwrap())), Instant::now())
    }

    fn played(ply: usize) -> Value {
        let clocks = json!({"white_ms": 50_000, "black_ms": 60_000, "running": "black"});
        json!({"type": "move", "id": "a", "ply": ply, "move": made(ply), "clocks": clocks})
    }

    #[test]
    fn a_game_is_chosen_from_the_list_and_followed() {
        let mut app = App::new("http://arena".into(), None);
        assert_eq!(app.topic(), Topic::Games);
        tell(&mut app, json!({"type": "games", "games": [summary("z", "ended"), summary("a", "running")]}));
        assert_eq!(app.games[0].summary.id, "a", "running games come first");
        assert_eq!(app.key(Key::Enter), Some(Wish::Watch(Topic::Game("a".into()))));
        let mut game = summary("a", "running");
        (game["start_fen"], game["plies"]) = (json!(FENS[0]), json!([]));
        tell(&mut app, json!({"type": "game", "game": game}));
        assert_eq!(tell(&mut app, played(1)), None);
        assert_eq!(tell(&mut app, played(2)), None);
        let shown = |app: &App| app.view(Instant::now()).map(|view| view.ply);
        assert_eq!(shown(&app), Some(2));
        app.key(Key::Left);
        assert_eq!(shown(&app), Some(1));
        // A takeback, and another move.
        assert_eq!(tell(&mut app, played(1)), None);
        assert_eq!(shown(&app), Some(1));
        tell(
            &mut app,
            json!({"type": "end", "id": "a", "result": "1-0", "reason": "Checkmate", "clocks": null}),
        );
        assert_eq!(app.view(Instant::now()).unwrap().end().unwrap(), "1-0 Checkmate");
        assert_eq!(app.key(Key::Escape), Some(Wish::Watch(Topic::Games)));
        assert!(app.view(Instant::now()).is_none());
        assert_eq!(app.key(Key::Char('q')), Some(Wish::Quit));
    }

    #[test]
    fn a_gap_in_the_moves_is_closed_by_the_whole_game() {
        let mut app = App::new("http://arena".into(), Some("a".into()));
        assert_eq!(app.topic(), Topic::Game("a".into()));
        let mut game = summary("a", "running");
        (game["start_fen"], game["plies"]) = (json!(FENS[0]), json!([]));
        tell(&mut app, json!({"type": "game", "game": game}));
        assert_eq!(tell(&mut app, played(2)), Some(Wish::Watch(Topic::Game("a".into()))));
        app.news(News::Lost("gone\u{1b}[2J (os error 111)".into()), Instant::now());
        assert_eq!(app.message, "not connected to http://arena: gone[2J; trying again");
        app.news(News::Connected, Instant::now());
        assert!(app.is_connected && app.message.is_empty());
        tell(&mut app, json!({"type": "error", "error": "no such game"}));
        assert_eq!(app.message, "no such game");
    }
}

//! State of `zeitnot board` and what the player does, without the terminal and without the table.

use std::time::{Duration, Instant};

use zeitnot_host::live::view::GamePhase;
use zeitnot_rules::{Color, Diagram};

use super::{
    input::{Meaning, MoveInput},
    table::{LegalMove, TableState},
};
use crate::cli::screen::{
    board::{oriented, squares},
    panel::plain,
    terminal::Key,
    view::{Marks, Square, View},
};

/// A game at the table.
pub(super) struct App {
    pub(super) table: TableState,
    /// Time at which the state came, for the clocks.
    told_at: Instant,
    pub(super) input: MoveInput,
    /// Square under the cursor, in the picture.
    cursor: Square,
    /// Square of the diagram whose piece is to move.
    selected: Option<Square>,
    is_flipped: bool,
    /// The cursor is shown once it was moved.
    has_cursor: bool,
    pub(super) message: String,
    /// Key that must be pressed again.
    confirming: Option<char>,
}

/// Request of the player to the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Move in coordinates, and the plies before it.
    Move(String, usize),
    Resign,
    OfferDraw,
    TakeBack,
    NewGame,
    Quit,
}

impl App {
    pub(super) fn new(table: TableState, now: Instant) -> App {
        let rows = View::diagram(&view(&table, false, Duration::ZERO)).map_or(8, |diagram| diagram.rows());
        App {
            table,
            told_at: now,
            input: MoveInput::default(),
            cursor: (rows.saturating_sub(2), 2),
            selected: None,
            is_flipped: false,
            has_cursor: false,
            message: "Type a move, or choose it with the arrows and Enter.".to_owned(),
            confirming: None,
        }
    }

    /// Takes the state of the table over.
    pub(super) fn update(&mut self, table: TableState, now: Instant) {
        let is_other_position = table.game.summary.fen != self.table.game.summary.fen;
        let has_ended = table.game.summary.state == GamePhase::Ended;
        if is_other_position {
            self.selected = None;
            self.message = told(&table);
        }
        if has_ended && self.is_running() {
            self.confirming = None;
            self.message = "The game is over. Ctrl-N begins a new one.".to_owned();
        }
        (self.table, self.told_at) = (table, now);
    }

    pub(super) fn refused(&mut self, why: &str) {
        self.message = why.to_owned();
    }

    pub(super) fn is_running(&self) -> bool {
        self.table.game.summary.state == GamePhase::Running
    }

    pub(super) fn view(&self, now: Instant) -> View<'_> {
        view(&self.table, self.is_flipped, now.saturating_duration_since(self.told_at))
    }

    pub(super) fn marks(&self) -> Marks {
        let cursor = self.diagram().filter(|_| self.has_cursor).map(|diagram| self.under_cursor(&diagram));
        Marks { cursor, selected: self.selected, targets: self.targets() }
    }

    fn diagram(&self) -> Option<Diagram> {
        view(&self.table, self.is_flipped, Duration::ZERO).diagram()
    }

    fn bottom(&self) -> Color {
        bottom(&self.table, self.is_flipped)
    }

    fn under_cursor(&self, diagram: &Diagram) -> Square {
        oriented(diagram, self.bottom(), self.cursor)
    }

    /// Squares that the selected piece, or the typed move, can go to.
    fn targets(&self) -> Vec<Square> {
        let Some(diagram) = self.diagram() else { return Vec::new() };
        let typed = self.input.text();
        let fits = |mv: &&LegalMove| match self.selected {
            Some(from) => squares(&diagram, &mv.uci)[0] == Some(from),
            None => !typed.is_empty() && (mv.san.starts_with(typed) || mv.uci.starts_with(typed)),
        };
        self.table.legal.iter().filter(fits).filter_map(|mv| squares(&diagram, &mv.uci)[1]).collect()
    }

    /// Moves that the typed text may become.
    pub(super) fn hint(&self) -> String {
        if self.input.text().is_empty() {
            return String::new();
        }
        match self.input.meaning(&self.table.legal) {
            Meaning::Move(mv) => format!("{} ⏎", mv.san),
            Meaning::Several(sans) => sans.join(" "),
            Meaning::Nothing if self.table.legal.is_empty() => "it is not your turn".to_owned(),
            Meaning::Nothing => format!("no legal move begins with {}", self.input.text()),
        }
    }

    pub(super) fn key(&mut self, key: Key) -> Option<Wish> {
        let confirming = self.confirming.take();
        match key {
            Key::Char(' ') => return self.choose(),
            Key::Enter if self.input.text().is_empty() => return self.choose(),
            Key::Enter => return self.enter(),
            Key::Char(letter) => {
                self.selected = None;
                self.input.push(letter);
            }
            Key::Backspace => self.input.pop(),
            Key::Tab => self.input.complete(&self.table.legal),
            Key::Escape => {
                self.input.clear();
                self.selected = None;
                self.has_cursor = false;
                self.message.clear();
            }
            Key::Up | Key::Down | Key::Left | Key::Right | Key::Home | Key::End => self.move_cursor(key),
            Key::Control('f') => self.is_flipped = !self.is_flipped,
            Key::Control('t') if self.table.can.takeback => return Some(Wish::TakeBack),
            Key::Control('t') => self.refused("You have no move to take back."),
            Key::Control('d') if self.table.can.draw => return Some(Wish::OfferDraw),
            Key::Control('d') => self.refused("A draw cannot be offered now."),
            Key::Control('r') if !self.is_running() => self.refused("The game is over."),
            Key::Control('r') => return self.confirmed('r', confirming, "resign").then_some(Wish::Resign),
            Key::Control('n') => {
                let sure =
                    !self.is_running() || self.confirmed('n', confirming, "leave this game for a new one");
                return sure.then_some(Wish::NewGame);
            }
            Key::Control('q') => {
                let sure = !self.is_running() || self.confirmed('q', confirming, "leave the game");
                return sure.then_some(Wish::Quit);
            }
            Key::Control(_) => {}
            Key::Stop => return Some(Wish::Quit),
        }
        None
    }

    /// Returns whether a key was pressed twice, and otherwise asks for it.
    fn confirmed(&mut self, key: char, confirming: Option<char>, what: &str) -> bool {
        if confirming == Some(key) {
            return true;
        }
        self.confirming = Some(key);
        self.message = format!("Ctrl-{} again to {what}.", key.to_ascii_uppercase());
        false
    }

    fn move_cursor(&mut self, key: Key) {
        let Some(diagram) = self.diagram() else { return };
        let rows = diagram.rows();
        let columns = diagram.columns();
        if self.has_cursor {
            let (row, column) = self.cursor;
            self.cursor = match key {
                Key::Up => (row.saturating_sub(1), column),
                Key::Down => ((row + 1).min(rows - 1), column),
                Key::Left => (row, column.saturating_sub(1)),
                Key::Right => (row, (column + 1).min(columns - 1)),
                Key::Home => (row, 0),
                _ => (row, columns - 1),
            };
        }
        self.has_cursor = true;
    }

    /// Chooses the square under the cursor: a piece to move, or where it goes.
    fn choose(&mut self) -> Option<Wish> {
        let diagram = self.diagram()?;
        self.has_cursor = true;
        let square = self.under_cursor(&diagram);
        let from_here = |mv: &&LegalMove| squares(&diagram, &mv.uci)[0] == Some(square);
        let here = |mv: &&LegalMove| {
            let [from, to] = squares(&diagram, &mv.uci);
            self.selected.is_some() && from == self.selected && to == Some(square)
        };
        let moves: Vec<LegalMove> = self.table.legal.iter().filter(here).cloned().collect();
        match moves.as_slice() {
            [] if self.selected == Some(square) => self.selected = None,
            [] if self.table.legal.iter().any(|mv| from_here(&mv)) => self.selected = Some(square),
            [] if self.table.legal.is_empty() => self.refused("It is not your turn."),
            [] if self.selected.is_some() => self.refused("That piece cannot go there."),
            [] => self.refused("No piece of yours can move from there; type drops, as in N@f3."),
            [one] => return Some(self.play(one)),
            [first, ..] => {
                let typed: String = first.uci.chars().take(4).collect();
                self.input.set(&typed);
                self.selected = None;
                self.message = "Promote to which piece? Type its letter, then Enter.".to_owned();
            }
        }
        None
    }

    /// Plays what is typed.
    fn enter(&mut self) -> Option<Wish> {
        match self.input.meaning(&self.table.legal) {
            Meaning::Move(mv) => {
                let mv = mv.clone();
                Some(self.play(&mv))
            }
            Meaning::Several(sans) => {
                self.message = format!("Which one: {}?", sans.join(", "));
                None
            }
            Meaning::Nothing => {
                let typed = self.input.text().to_owned();
                self.refused(&match self.table.legal.is_empty() {
                    true => "It is not your turn.".to_owned(),
                    false => format!("{typed} is not a legal move here, nor does one begin with it."),
                });
                None
            }
        }
    }

    fn play(&mut self, mv: &LegalMove) -> Wish {
        self.input.clear();
        self.selected = None;
        Wish::Move(mv.uci.clone(), self.table.game.plies.len())
    }
}

/// The opponent's move, if it was the last one.
fn told(table: &TableState) -> String {
    let Some(ply) = table.game.plies.last().filter(|_| !table.legal.is_empty()) else { return String::new() };
    let opponent =
        if table.you == Color::White { &table.game.summary.black } else { &table.game.summary.white };
    format!("{} plays {}.", plain(&opponent.name), plain(&ply.san))
}

fn bottom(table: &TableState, is_flipped: bool) -> Color {
    if is_flipped { !table.you } else { table.you }
}

fn view(table: &TableState, is_flipped: bool, age: Duration) -> View<'_> {
    let game = &table.game;
    View { game, ply: game.plies.len(), bottom: bottom(table, is_flipped), age, thought: None }
}

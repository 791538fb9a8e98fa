//! What the dialects of UCI say differently.

use std::time::Duration;

use crate::{
    engine::{Judged, Score},
    game::{Game, GameError, Line},
    wire::uci::{Go, UciScore, Words},
};

/// A dialect of UCI, with what it remembers of its own options.
pub trait Dialect: Send + 'static {
    /// What is played.
    type Game: Judged;
    /// Which words are known.
    const WORDS: Words;
    /// How early a move leaves.
    const MARGIN: Margin;
    /// No more bytes of `info` are said in one search; the answer always is.
    const MOST_SAID: usize;
    /// Said instead of a move where there is none.
    const NO_MOVE: &str;

    /// The lines that tell of its own options.
    fn options(&self) -> Vec<String>;

    /// Sets one of its own options, named in lower case.
    fn set_option(&mut self, name: &str, value: &str) -> Setting;

    /// The position that a game begins with; `None`: the usual one.
    ///
    /// # Errors
    /// [`GameError::Position`] if the text is none.
    fn root(&self, text: Option<&str>) -> Result<Self::Game, GameError>;

    /// What `go` means where it leaves something open.
    fn complete(go: Go) -> Go {
        go
    }

    /// The value of a search, as it is told.
    fn score(score: Score) -> UciScore;

    /// The answer, with the reply that the search expects.
    fn best_move(mv: &str, reply: Option<&str>) -> String;

    /// The position for human eyes.
    fn show(line: &Line<Self::Game>) -> String {
        line.now().print()
    }
}

/// What is kept in hand of a time for one move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Margin {
    /// This much, where no option says otherwise, …
    pub most: Duration,
    /// … but of a short time at most one part in so many.
    pub part: u32,
}

/// What became of an option.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// It is set, or rightly of no interest.
    Taken,
    /// There is none of that name.
    Unknown,
}

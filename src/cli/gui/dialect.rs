//! What the dialects of UCI say differently.

use std::time::Duration;

use zeitnot_engine::{Playable, Score, wdl::WinDrawLoss};
use zeitnot_rules::{Game, GameError, GameHistory};
use zeitnot_wire::uci::{Go, UciScore, Words};

use super::options::{Offer, Options};

/// A dialect of UCI.
pub trait Dialect: Send + 'static {
    /// What is played.
    type Game: Playable;
    /// Which words are known.
    const WORDS: Words;
    /// How early a move leaves.
    const MARGIN: Margin;
    /// No more bytes of `info` are said in one search; the answer always is.
    const MOST_SAID: usize;
    /// Said instead of a move where there is none.
    const NO_MOVE: &str;
    /// What can be set.
    const OFFERS: &[&[Offer]];
    /// Is an option that nobody knows taken without a word?
    const IS_LENIENT: bool = false;

    /// The lines that tell of options which it has by name only.
    fn more_options(&self) -> Vec<String> {
        Vec::new()
    }

    /// The position that a game begins with; `None`: the usual one.
    ///
    /// # Errors
    /// [`GameError::Position`] if the text is none.
    fn root(text: Option<&str>, options: &Options) -> Result<Self::Game, GameError>;

    /// What `go` means where it leaves something open.
    fn complete(go: Go) -> Go {
        go
    }

    /// The value of a search, as it is told.
    fn score(score: Score) -> UciScore;

    /// What the value says of the result; `None`: nobody knows that.
    fn odds(_position: &Self::Game, _score: Score) -> Option<WinDrawLoss> {
        None
    }

    /// The answer, with the reply that the search expects.
    fn best_move(mv: &str, reply: Option<&str>) -> String;

    /// The position for human eyes.
    fn show(line: &GameHistory<Self::Game>) -> String {
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

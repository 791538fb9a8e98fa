//! Engines that others wrote, as thinkers: programs that speak [UCI](uci) or [xboard's protocol](xboard).
//!
//! A [`Program`] is one that was started and tried once. Each game has a process of its own, which runs from
//! the game's start to its end, in a process group that is killed with it. Nothing that it says is trusted:
//! lines are bounded, moves are legal or nothing, and each wait has an end. What it knows so far stands in the
//! slot, as with our own searches; one that dies, hangs or talks nonsense is started again and asked again with
//! the time that is left, and who does that too often leaves the rest of the game to our own engine.

mod config;
mod connection;
mod contestant;
mod program;
mod rules;
mod thinker;
mod uci;
mod xboard;

#[cfg(test)]
mod tests;

use std::{
    io,
    time::{Duration, Instant},
};

pub use config::{Config, Named, Protocol, Value};
use connection::Connection;
pub use contestant::{Answer, Contestant, Reply};
pub use program::{Failure, Program, Tried};
pub use rules::uci_variants;
pub(super) use thinker::External;

use zeitnot_rules::Color;
use zeitnot_wire::{
    engines::{Setting, Thinking},
    uci::UciScore,
};

use super::Clocks;

/// What went wrong with an engine.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It did not even begin.
    #[error("cannot be started: {0}")]
    Start(io::Error),
    /// It is not there any more.
    #[error("has ended by itself")]
    Ended,
    /// It says nothing of what it was asked for.
    #[error("does not answer `{0}`")]
    Silent(&'static str),
    /// It was told to stop, and did not.
    #[error("does not stop when it is told to")]
    Deaf,
    /// It does not read what we say.
    #[error("does not read what it is told")]
    Clogged,
    /// It says more than anybody can read.
    #[error("prints without end")]
    Flood,
    /// Its answer is no answer.
    #[error("plays {0:?}, which is no legal move")]
    NoMove(String),
    /// It sees another position than we do.
    #[error("says that a move of ours is illegal ({0:?})")]
    OutOfStep(String),
    /// We are leaving.
    #[error("is not wanted any more")]
    Closed,
}

impl Fault {
    /// What the user can do about it.
    fn advice(&self) -> &'static str {
        match self {
            Fault::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                "is it installed, and are `command` and `folder` right?"
            }
            Fault::Start(_) => "may it be executed?",
            Fault::Ended => "start it by hand to see what it says; do its `args` fit?",
            Fault::Silent("uci") => {
                "if it speaks xboard's protocol, say `protocol = \"xboard\"`; if it is slow to start, raise `start_within`"
            }
            Fault::Silent(_) => "if it is slow to start, raise `start_within`",
            _ => "it is of no use as it is",
        }
    }
}

/// Where a game stands, in the words of engines.
struct Position {
    /// The variant's name in this protocol.
    variant: String,
    /// In Chess960 castling is the king that takes its rook.
    chess960: bool,
    /// `None`: the usual start.
    root: Option<String>,
    /// Since then, in coordinates.
    moves: Vec<String>,
    /// Whose move it is.
    side: Color,
}

/// How long to think.
#[derive(Clone, Debug, Default)]
struct Pace {
    /// Our time is the engine's to share out.
    clocks: Option<Clocks>,
    /// This long.
    move_time: Option<Duration>,
    depth: Option<u16>,
    nodes: Option<u64>,
    mate: Option<u16>,
    /// Only these; empty: all.
    root_moves: Vec<String>,
}

/// What an engine has said of itself.
#[derive(Clone, Debug, Default)]
struct Introduction {
    name: Option<String>,
    settings: Vec<Setting>,
    /// The variants that it plays, as it calls them.
    variants: Vec<String>,
    chess960: bool,
}

impl Introduction {
    fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))
    }
}

/// What an engine says during a search.
enum Heard {
    Thinks(Thinking),
    Plays(String),
    /// It knows no move here.
    NoMove,
    /// It will not play one.
    Resigns,
    Nothing,
}

/// One of the protocols, with what it must remember of the engine it is spoken with.
trait Dialect: Send {
    /// Asks who is there, and sets the options that it has.
    fn greet(
        &mut self,
        engine: &mut Connection,
        options: &[(String, String)],
        until: Instant,
    ) -> Result<Introduction, Fault>;

    /// Can it think as this wants it?
    fn is_able(&self, pace: &Pace) -> bool;

    /// Another game is about to begin, and it has all the time until then to be ready.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault>;

    /// Begins to think.
    fn go(&mut self, engine: &mut Connection, position: &Position, pace: &Pace) -> Result<(), Fault>;

    /// What a line says.
    fn hear(&mut self, engine: &mut Connection, line: &str) -> Result<Heard, Fault>;

    /// The move, please.
    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault>;
}

/// A score as we have them.
fn score(told: UciScore) -> super::Score {
    let plies = |moves: i16| moves.unsigned_abs().min(super::score::MAX_PLY / 2);
    match told {
        UciScore::Cp(cp) => super::Score::cp(cp),
        UciScore::Mate(moves) if moves > 0 => super::Score::mate_in(2 * plies(moves) - 1),
        UciScore::Mate(moves) => super::Score::mated_in(2 * plies(moves)),
    }
}

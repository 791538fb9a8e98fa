//! `zeitnot uci`: being an engine under a chess GUI or a match runner.

use std::{
    io::{self, BufReader},
    time::Duration,
};

use shakmaty::CastlingMode;

use super::{
    CliError,
    gui::{self, Dialect, Margin, Setting},
};
use crate::{
    engine::{self, Score},
    game::{Game, GameError, chess::Chess},
    wire::uci::{UciScore, Words},
};

/// Be a chess engine: speak UCI on standard input and output
///
/// For chess GUIs and match runners: give them the command `zeitnot uci`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  printf 'position startpos moves e2e4\\ngo movetime 1000\\n' | zeitnot uci")]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// [`CliError::Gui`].
pub fn run(_: &Args) -> Result<(), CliError> {
    let input = BufReader::new(io::stdin());
    Ok(gui::serve(Uci::default(), engine::Config::default(), input, io::stdout())?)
}

/// UCI itself.
#[derive(Debug, Default)]
struct Uci {
    /// `None`: standard chess, unless the position says otherwise.
    mode: Option<CastlingMode>,
}

impl Dialect for Uci {
    type Game = Chess;
    const WORDS: Words = Words::Uci;
    /// GUIs and match runners are near, a pipe away; but the machine may be busy, and wake either side late.
    const MARGIN: Margin = Margin { most: Duration::from_millis(50), part: 8 };
    const MOST_SAID: usize = usize::MAX;
    const NO_MOVE: &str = "(none)";

    fn options(&self) -> Vec<String> {
        ["Ponder", "UCI_Chess960"].map(|name| format!("option name {name} type check default false")).into()
    }

    fn set_option(&mut self, name: &str, value: &str) -> Setting {
        match name {
            "uci_chess960" => self.mode = (value == "true").then_some(CastlingMode::Chess960),
            // The GUI says by it whether it will ponder; we need not know.
            "ponder" => {}
            _ => return Setting::Unknown,
        }
        Setting::Taken
    }

    fn root(&self, fen: Option<&str>) -> Result<Chess, GameError> {
        match (fen, self.mode) {
            (None, None) => Ok(Chess::start()),
            (None, Some(mode)) => Chess::parse_as(&Chess::start().print(), mode),
            (Some(fen), None) => Chess::parse(fen),
            (Some(fen), Some(mode)) => Chess::parse_as(fen, mode),
        }
    }

    fn score(score: Score) -> UciScore {
        score.mate_moves().map_or(UciScore::Cp(score.get()), UciScore::Mate)
    }

    fn best_move(mv: &str, reply: Option<&str>) -> String {
        match reply {
            Some(reply) => format!("bestmove {mv} ponder {reply}"),
            None => format!("bestmove {mv}"),
        }
    }
}

//! `zeitnot ubgi`: being an engine of MiniChess under the runner and the GUI of the NTHU course of 2026.
//!
//! The runner starts a new process for each move, kills it when the time is up, and reads only then what it
//! has said. So a start costs next to nothing, the answer leaves early, and what is said fits into a pipe
//! that nobody empties: the 64 KiB that Linux gives it.

use std::{
    io::{self, BufReader},
    num::{NonZeroU16, NonZeroUsize},
    time::Duration,
};

use zeitnot_engine as engine;
use zeitnot_engine::{Kind, Score};
use zeitnot_rules::{
    Game, GameError, GameHistory,
    minichess::{COLUMNS, Mini2026, ROWS},
};
use zeitnot_wire::uci::{Go, UciScore, Words};

use super::{
    CliError,
    gui::{
        Console, Dialect, Margin,
        options::{self, Offer, Options},
    },
};

/// Enough for a game's positions. Its pages are asked for as they are used, so a new process loses no time.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// What UBGI means by a `go` that says nothing.
const USUAL_DEPTH: u16 = 6;

/// Be an engine of MiniChess: speak UBGI on standard input and output
///
/// For the runner (`cli/cli.py`) and the GUI of the NTHU course of 2026. The runner wants a program without
/// arguments, so give it a script that says `exec zeitnot ubgi`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  printf 'position startpos moves a2a3\\ngo movetime 1000\\n' | zeitnot ubgi
  zeitnot ubgi --engine alpha-beta --depth 3      an easier opponent")]
pub struct Args {
    /// Who thinks: search, random, or one of the textbook: minimax, alpha-beta, …
    #[arg(long, value_name = "KIND", default_value_t, value_parser = kind)]
    engine: Kind,
    /// The textbook players search no deeper than this
    #[arg(long, value_name = "PLIES", default_value = "4")]
    depth: NonZeroU16,
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::named().find(|kind| kind.to_string() == name).ok_or_else(|| {
        let known: Vec<_> = Kind::named().map(|kind| kind.to_string()).collect();
        format!("known: {}", known.join(", "))
    })
}

/// Runs the command.
///
/// # Errors
/// [`CliError::Gui`].
pub fn run(args: &Args) -> Result<(), CliError> {
    let config = engine::Config {
        kind: args.engine,
        depth: args.depth,
        hash_mib: HASH_MIB,
        ..engine::Config::default()
    };
    let options = Options::new(config, Ubgi::MARGIN.most);
    Console::open(options, BufReader::new(io::stdin()), io::stdout())?.play(Ubgi { engine: args.engine })?;
    Ok(())
}

/// The Universal Board Game Interface, for MiniChess.
#[derive(Debug)]
struct Ubgi {
    engine: Kind,
}

impl Dialect for Ubgi {
    type Game = Mini2026;
    const WORDS: Words = Words::Ubgi;
    /// Who is killed at the limit loses; a lost tenth of a ply loses nothing.
    const MARGIN: Margin = Margin { most: Duration::from_millis(60), part: 3 };
    const MOST_SAID: usize = 48 << 10;
    /// As UBGI has it. The runner ends such a game by itself, and to the GUI it is no move.
    const NO_MOVE: &str = "0000";
    const OFFERS: &[&[Offer]] = &[options::COMMON];
    /// The runner sets what its own engines know.
    const IS_LENIENT: bool = true;

    fn more_options(&self) -> Vec<String> {
        // The runner sets `Algorithm` without being asked, to what its own copy knows: it must not make us
        // weaker, and so offers no choice. `--engine` does.
        vec![
            "option name GameName type string default MiniChess".to_owned(),
            format!("option name BoardWidth type spin default {COLUMNS} min 1 max 26"),
            format!("option name BoardHeight type spin default {ROWS} min 1 max 26"),
            format!("option name Algorithm type combo default {0} var {0}", self.engine),
        ]
    }

    fn root(board: Option<&str>, _: &Options) -> Result<Mini2026, GameError> {
        board.map_or_else(|| Ok(Mini2026::start()), Mini2026::parse)
    }

    fn complete(go: Go) -> Go {
        if go == Go::default() { Go { depth: Some(USUAL_DEPTH), ..go } } else { go }
    }

    fn score(score: Score) -> UciScore {
        UciScore::Cp(score.get())
    }

    fn best_move(mv: &str, _: Option<&str>) -> String {
        format!("bestmove {mv}")
    }

    fn show(line: &GameHistory<Mini2026>) -> String {
        let position = line.now();
        let board = position.board().to_string();
        let files: String = ('a'..).take(COLUMNS).flat_map(|file| [' ', file]).collect();
        let ranks = (1..=ROWS).rev().zip(board.split('/')).map(|(rank, men)| {
            let men: String = men.chars().flat_map(|man| [' ', man]).collect();
            format!("{rank}{men}\n")
        });
        let (side, plies) = (position.side(), position.plies());
        format!("{} {files}\n{side} to move, {plies} plies played", ranks.collect::<String>())
    }
}

//! `zeitnot ubgi`: the engine of MiniChess under the runner and the GUI of the NTHU course of 2026.

use std::{
    io::{self, BufReader},
    num::NonZeroU16,
};

use zeitnot_engine::{Config, Kind, uci};

use super::CliError;

/// Run as a MiniChess engine: UBGI on standard input and output
///
/// For the runner (`cli/cli.py`) and the GUI of the NTHU course of 2026. The runner needs a program without
/// arguments, so give it a script with the line `exec zeitnot ubgi`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  printf 'position startpos moves a2a3\\ngo depth 10\\n' | zeitnot ubgi
  zeitnot ubgi --engine alpha-beta --depth 3      an easier opponent")]
pub(super) struct Args {
    /// Algorithm: search, random, or one of the textbook: minimax, alpha-beta, …
    #[arg(long, value_name = "KIND", default_value_t, value_parser = str::parse::<Kind>)]
    engine: Kind,
    /// Maximum depth of the textbook algorithms
    #[arg(long, value_name = "PLIES", default_value = "4")]
    depth: NonZeroU16,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let config = Config { kind: args.engine, depth: args.depth, ..Config::default() };
    Ok(uci::run_ubgi(config, BufReader::new(io::stdin()), io::stdout())?)
}

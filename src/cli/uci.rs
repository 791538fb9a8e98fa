//! `zeitnot uci`: the engine under a chess GUI or a match runner.

use std::io::{self, BufReader};

use super::CliError;

/// Run as a chess engine: UCI on standard input and output
///
/// For chess GUIs and match runners: register the command `zeitnot uci`. For those that need a program without
/// arguments, `zeitnot` alone does the same where its input is a pipe.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  printf 'position startpos moves e2e4\\ngo depth 12\\n' | zeitnot uci")]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<(), CliError> {
    Ok(zeitnot_engine::uci::run(BufReader::new(io::stdin()), io::stdout())?)
}

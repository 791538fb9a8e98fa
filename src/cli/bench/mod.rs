//! `zeitnot bench`: fixed positions to a fixed depth. Its node count is the engine's identity.
//!
//! `zeitnot bench deadline` measures whether moves are ready in time, `zeitnot bench overhead` what the Lichess
//! client adds to them.

use std::{io::Write, num::NonZeroUsize};

use zeitnot_engine::bench::{DEPTH, HASH_MIB, measure};

use super::{CliError, network, print};

mod busy;
pub mod deadline;
pub mod overhead;

/// Measure the engine: fixed positions to a fixed depth
///
/// The number of nodes is the same on every run and machine with the same depth and hash: it tells two
/// versions of the engine apart. The last line is `N nodes M nps`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Something else to measure
    #[command(subcommand)]
    pub what: Option<What>,
    /// Plies
    #[arg(long, default_value_t = DEPTH, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub depth: u16,
    /// Size of the transposition table
    #[arg(long, value_name = "MIB", default_value_t = HASH_MIB)]
    pub hash: NonZeroUsize,
}

/// What else can be measured.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Measure whether every move is ready in time
    Deadline(deadline::Args),
    /// Measure what the Lichess client adds to the time that it thinks
    Overhead(overhead::Args),
    /// Keep one core busy until the standard input ends
    #[command(hide = true)]
    Busy,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<(), CliError> {
    match &args.what {
        Some(What::Deadline(args)) => deadline::run(args),
        Some(What::Overhead(args)) => overhead::run(args),
        Some(What::Busy) => busy::run(),
        None => search(args),
    }
}

fn search(args: &Args) -> Result<(), CliError> {
    let measured = measure(args.depth, args.hash, &mut |fen, nodes| {
        // A closed output is reported with the result below.
        let _ = print(|out| writeln!(out, "{nodes:>10} {fen}"));
    })?;
    print(|out| {
        writeln!(out, "depth {}, hash {} MiB, {:.2?}", args.depth, args.hash, measured.time)?;
        writeln!(out, "{measured}")
    })
}

//! `zeitnot bench`: fixed positions to a fixed depth. Its node count is the engine's identity.
//!
//! `zeitnot bench deadline` measures whether moves are ready in time, `zeitnot bench overhead` what the Lichess
//! client adds to them, `zeitnot bench arena-attack` how much attacks on the arena delay its players, `zeitnot bench
//! spectators` how long a move takes to those who watch.

use std::{num::NonZeroUsize, ops::ControlFlow, time::Duration};

use zeitnot_engine::{
    bench::{DEPTH, HASH_MIB, POSITIONS, measure},
    net::EvalFile,
};

use super::{CliError, network, print, signals, table};

mod attack;
mod busy;
mod deadline;
mod overhead;
mod random_move;
mod spectators;

/// Measure the engine: fixed positions to a fixed depth
///
/// The number of nodes is the same on every run and machine with the same depth and hash: it tells two
/// versions of the engine apart. The last line is `N nodes M nps`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    measurement: Option<Measurement>,
    /// Plies
    #[arg(long, default_value_t = DEPTH, value_parser = clap::value_parser!(u16).range(1..=100))]
    depth: u16,
    /// Size of the transposition table
    #[arg(long, value_name = "MIB", default_value_t = HASH_MIB)]
    hash: NonZeroUsize,
    /// Evaluation: net, hand-made, or the path of a net
    #[arg(long, value_name = "EVALFILE", default_value_t)]
    eval_file: EvalFile,
}

#[derive(Debug, clap::Subcommand)]
enum Measurement {
    /// Measure whether every move is ready in time
    Deadline(deadline::Args),
    /// Measure how much attacks on the arena delay honest players
    ArenaAttack(attack::Args),
    /// Measure the time that the Lichess client adds to thinking
    Overhead(overhead::Args),
    /// Measure the time from a move to the screens of its spectators
    Spectators(spectators::Args),
    /// Keep one core busy until the standard input ends
    #[command(hide = true)]
    Busy,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    match &args.measurement {
        Some(Measurement::Deadline(args)) => deadline::run(args),
        Some(Measurement::ArenaAttack(args)) => attack::run(args),
        Some(Measurement::Overhead(args)) => overhead::run(args),
        Some(Measurement::Spectators(args)) => spectators::run(args),
        Some(Measurement::Busy) => busy::run(),
        None => search(args),
    }
}

fn search(args: &Args) -> Result<(), CliError> {
    let (stop, mut done) = (signals::stop_flag(signals::ENDING)?, 0);
    let measured = measure(args.depth, args.hash, &args.eval_file, &mut |fen, nodes| {
        // A closed output is reported with the result below.
        let _ = print(|out| writeln!(out, "{nodes:>7} {fen}"));
        done += 1;
        if stop.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    print(|out| {
        if done < POSITIONS.len() {
            writeln!(out, "stopped after {done} of {} positions", POSITIONS.len())?;
        }
        writeln!(out, "depth {}, hash {} MiB, {:.2?}", args.depth, args.hash, measured.time)?;
        writeln!(out, "{measured}")
    })
}

/// Prints a row of a table, folded on a narrow terminal.
fn print_row(text: &str) -> Result<(), CliError> {
    print(|out| writeln!(out, "{}", table::row(text, table::width())))
}

/// Quantile of sorted times, in milliseconds.
fn quantile(sorted: &[Duration], part: f64) -> Option<f64> {
    let at = ((sorted.len() as f64 * part).ceil() as usize).max(1) - 1;
    sorted.get(at).map(|time| 1000.0 * time.as_secs_f64())
}

//! `zeitnot bench`: fixed positions to a fixed depth. Its node count is the engine's identity.

use std::{num::NonZeroUsize, ops::ControlFlow};

use zeitnot_engine::{
    bench::{DEPTH, HASH_MIB, POSITIONS, measure},
    net::EvalFile,
};

use super::{CliError, print, signals};

/// Measure the engine: fixed positions to a fixed depth
///
/// The number of nodes is the same on every run and machine with the same depth and hash: it tells two
/// versions of the engine apart. The last line is `N nodes M nps`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
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

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let stop = signals::stop_flag(signals::ENDING)?;
    let mut done = 0;
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

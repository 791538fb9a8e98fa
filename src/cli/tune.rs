//! `zeitnot tune`: fits the weights of the evaluation to games of `zeitnot datagen`.

use std::{num::NonZeroUsize, ops::ControlFlow, path::PathBuf};

use zeitnot_engine as engine;
use zeitnot_net::replace_file;
use zeitnot_trainer::{
    games::read_quiet,
    tuning::{self, Dataset, Objective, TunerSettings},
};

use super::{CliError, print, signals, unwritten};

/// Fit the weights of the evaluation to quiet positions of games, and their results
///
/// Starts with piece values alone. Ctrl-C ends it after the current epoch. The output replaces crates/engine/src/eval/chess/weights.rs; play a match to see
/// whether it is stronger.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot tune games.bin
  zeitnot tune --out crates/engine/src/eval/chess/weights.rs first.bin second.bin")]
pub(super) struct Args {
    /// Files written by `zeitnot datagen`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Output file
    #[arg(long, value_name = "FILE", default_value = "weights.rs")]
    out: PathBuf,
    /// Number of passes over the positions
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    epochs: u32,
    /// Weight of the search score against the game result, from 0 to 1
    #[arg(long, default_value_t = 0.7, value_name = "PART", value_parser = part)]
    score_weight: f64,
    /// Initial learning rate in centipawns; decays to a hundredth
    #[arg(long, default_value_t = 1.0, value_name = "CP", value_parser = length)]
    step: f64,
    /// Maximum number of quiet positions from each file
    #[arg(long, value_name = "N")]
    positions: Option<usize>,
    /// Number of threads [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Batch size in positions.
const BATCH: usize = 16_384;
/// Share of the positions held out for validation.
const HOLDOUT: f64 = 0.05;

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0 to 1".into())
}

fn length(text: &str) -> Result<f64, String> {
    let length = text.parse().ok().filter(|length: &f64| length.is_finite() && *length > 0.0);
    length.ok_or_else(|| "a number above 0".into())
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let threads = args.threads.unwrap_or_else(engine::cores).get();
    let most = args.positions.unwrap_or(usize::MAX);
    let mut records = Vec::new();
    for file in &args.files {
        records.extend(read_quiet(file, most)?);
    }
    let goal = Objective { steepness: tuning::steepness(&records), score_weight: args.score_weight };
    let dataset =
        Dataset::read(&records, goal, threads).ok().filter(|dataset| !dataset.is_empty()).ok_or_else(
            || CliError::Usage("the files hold no quiet positions; use files of `zeitnot datagen`".into()),
        )?;
    print(|out| writeln!(out, "{} positions, steepness {:.5}", dataset.len(), goal.steepness))?;

    let stop = signals::stop_flag(signals::ENDING)?;
    let settings =
        TunerSettings { epochs: args.epochs, step: args.step, batch: BATCH, holdout: HOLDOUT, threads };
    let weights = tuning::tune(&dataset, goal, &tuning::initial_weights(), &settings, |epoch| {
        // A closed standard output does not stop the tuning.
        let _ = print(|out| {
            writeln!(
                out,
                "epoch {:3}: loss {:.6}, holdout {:.6}",
                epoch.number, epoch.loss, epoch.holdout_loss
            )
        });
        if stop.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    replace_file(&args.out, tuning::format_weights(&weights).as_bytes()).map_err(unwritten(&args.out))
}

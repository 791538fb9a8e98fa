//! `zeitnot tune`: the weights of the evaluation, from positions of `zeitnot datagen`.

use std::{fs, io::Write, num::NonZeroUsize, path::PathBuf};

use zeitnot_engine as engine;
use zeitnot_engine::training::{self, Dataset, Objective, TunerSettings};

use super::{CliError, print};

/// Find the weights of the evaluation that explain positions and results best
///
/// Begins with the plain values of the pieces alone. The file that it writes is to replace
/// crates/engine/src/eval/chess/weights.rs; whether that is better is for matches to say.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot tune quiet.bin
  zeitnot tune --out crates/engine/src/eval/chess/weights.rs first.bin second.bin")]
pub struct Args {
    /// Positions that `zeitnot datagen` has written
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Where the weights go
    #[arg(long, value_name = "FILE", default_value = "weights.rs")]
    pub out: PathBuf,
    /// How often all positions are looked at
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub epochs: u32,
    /// What the score of the search counts beside the result of the game, from 0 to 1
    #[arg(long, default_value_t = 0.7, value_name = "PART", value_parser = part)]
    pub score_weight: f64,
    /// The first step, in centipawns; steps become smaller
    #[arg(long, default_value_t = 1.0, value_name = "CP", value_parser = length)]
    pub step: f64,
    /// At most so many positions of each file
    #[arg(long, value_name = "N")]
    pub positions: Option<usize>,
    /// How many work at it [default: the cores of this machine]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// So many positions make a step.
const BATCH: usize = 16_384;
/// A twentieth is kept apart.
const HOLDOUT: f64 = 0.05;

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0 to 1".into())
}

fn length(text: &str) -> Result<f64, String> {
    let length = text.parse().ok().filter(|length: &f64| length.is_finite() && *length > 0.0);
    length.ok_or_else(|| "a number above 0".into())
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for files that cannot be read or hold no positions, and for one that cannot be written.
pub fn run(args: &Args) -> Result<(), CliError> {
    let threads = args.threads.unwrap_or_else(engine::cores).get();
    let most = args.positions.unwrap_or(usize::MAX);
    let mut records = Vec::new();
    for file in &args.files {
        records.extend(training::read_records(file, most)?);
    }
    let goal = Objective { steepness: training::steepness(&records), score_weight: args.score_weight };
    let wrong =
        |why: &str| CliError::Usage(format!("the files hold {why}; they are to be of `zeitnot datagen`"));
    let dataset = Dataset::read(&records, goal, threads).map_err(|_| wrong("bytes that are no positions"))?;
    if dataset.is_empty() {
        return Err(wrong("no positions"));
    }
    print(|out| writeln!(out, "{} positions, steepness {:.5}", dataset.len(), goal.steepness))?;

    let settings =
        TunerSettings { epochs: args.epochs, step: args.step, batch: BATCH, holdout: HOLDOUT, threads };
    let weights = training::tune(&dataset, goal, &training::initial_weights(), &settings, |epoch| {
        // Should nobody read it, the weights are wanted all the same.
        let _ = print(|out| {
            writeln!(out, "epoch {:3}: loss {:.6}, apart {:.6}", epoch.number, epoch.loss, epoch.holdout_loss)
        });
    });
    fs::write(&args.out, training::format_weights(&weights))
        .map_err(|source| CliError::Unwritten { path: args.out.clone(), source })
}

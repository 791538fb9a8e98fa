//! `zeitnot train-small`: trains the net of a game other than chess on games of `zeitnot datagen`.

use std::{num::NonZeroUsize, path::PathBuf};

use zeitnot_engine as engine;
use zeitnot_net::replace_file;
use zeitnot_rules::GameKind;
use zeitnot_trainer::{
    SmallExamples, SmallRun, SmallSettings, TrainError,
    games::{GameFile, GameFileError},
};

use super::{
    CliError, print,
    progress::{STEPS, Work},
    unwritten,
};

/// Train the small net of a game other than chess on scored games
///
/// The last twentieth of the positions is held out. The net replaces that of the game in crates/engine/nets/; build
/// anew, and play a match to see whether it is stronger. Ctrl-C ends it without a net. See docs/net.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zeitnot datagen --game minichess-2026 mini.bin
  zeitnot train-small minichess-2026 --out crates/engine/nets/minichess-2026.net mini.bin")]
pub(super) struct Args {
    /// Game: a variant of chess, minichess-2026, minichess-2023, minichess-imcs or tuc
    #[arg(value_name = "GAME")]
    game: GameKind,
    /// Files of its games written by `zeitnot datagen`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Net to write at the end
    #[arg(long, value_name = "FILE", default_value = "small.net")]
    out: PathBuf,
    /// Number of passes over the positions; after each one the losses are printed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    epochs: u32,
    /// Positions of a batch
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    batch: u64,
    /// Highest learning rate; it rises to this, and then falls to a hundredth
    #[arg(long, value_name = "RATE", default_value_t = 0.003, value_parser = super::train::rate)]
    rate: f32,
    /// Weight of the search score against the game result, from 0 to 1
    #[arg(long, value_name = "PART", default_value_t = 0.6, value_parser = super::train::part)]
    score_weight: f32,
    /// Centipawns with which three games of four are about won [default: fitted to the results]
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(u16).range(1..=2_000))]
    scale: Option<u16>,
    /// Seed; with the same number of threads, the same seed gives the same net
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Args {
    fn settings(&self) -> SmallSettings {
        SmallSettings {
            batch: usize::try_from(self.batch).unwrap_or(usize::MAX),
            epochs: self.epochs,
            rate: self.rate,
            score_weight: self.score_weight,
            scale: self.scale.map(f32::from),
            seed: self.seed,
            threads: self.threads.unwrap_or_else(engine::cores).get(),
        }
    }

    fn examples(&self) -> Result<SmallExamples, CliError> {
        let mut all = SmallExamples::new(self.game).ok_or_else(|| {
            CliError::Usage(
                "the net of chess is trained by `zeitnot train`; every other game has a small one".into(),
            )
        })?;
        for path in &self.files {
            let file = GameFile::open_for(path, self.game)?;
            let wrong = |error| GameFileError::BadGame { path: path.clone(), error };
            all.extend(file.bytes()).map_err(wrong)?;
        }
        if all.is_empty() { Err(TrainError::NoPositions.into()) } else { Ok(all) }
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let examples = args.examples()?;
    let mut run = SmallRun::begin(&examples, args.settings());
    print(|out| writeln!(out, "{} quiet positions, scale {:.0} cp", examples.len(), run.scale()))?;
    let work = Work::begin(args.epochs.into(), STEPS)?;
    while let Some(report) = run.epoch() {
        work.bar.inc(1);
        // A closed standard output does not stop the training.
        let _ = work.bar.suspend(|| {
            print(|out| {
                writeln!(
                    out,
                    "epoch {:3}: loss {:.6}, held out {:.6}",
                    report.epoch, report.loss, report.held_out
                )
            })
        });
        if work.is_stopped() {
            return Ok(());
        }
    }
    work.bar.finish_and_clear();
    replace_file(&args.out, &run.to_bytes()).map_err(unwritten(&args.out))
}

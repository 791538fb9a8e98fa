//! `zeitnot train`: trains a net on games of `zeitnot datagen`.

use std::{
    ffi::OsString,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use zeitnot_engine as engine;
use zeitnot_engine::net::NetShape;
use zeitnot_net::replace_file;
use zeitnot_trainer::{Checkpoint, Corpus, Parameters, Report, Rounding, Run, Settings, TrainError};

use super::{
    CliError, print,
    progress::{STEPS, Work},
    unwritten, usage,
};

/// Train a net for the evaluation on scored games
///
/// The last twentieth of each file is held out. The same command continues after Ctrl-C or a kill, from the
/// checkpoint. See docs/net.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot train games.bin
  zeitnot train --hidden 64 --superbatches 20 --out small.net first.bin second.bin
  zeitnot train --export --out small.net games.bin        the net of the last checkpoint")]
pub(super) struct Args {
    /// Files of games written by `zeitnot datagen`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Net to write at the end
    #[arg(long, value_name = "FILE", default_value = "chess.net")]
    out: PathBuf,
    /// Checkpoint of the run, written every few seconds [default: the path of --out followed by .checkpoint]
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write the net of the checkpoint without training
    #[arg(long)]
    export: bool,
    /// Size of the hidden layer of each side, a multiple of 32
    #[arg(long, value_name = "N", default_value = "128", value_parser = shape)]
    hidden: NetShape,
    /// Number of superbatches; after each one the losses are printed
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    superbatches: u64,
    /// Batches of a superbatch
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    superbatch: u64,
    /// Positions of a batch
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    batch: u64,
    /// Highest learning rate; it rises to this, and then falls to a hundredth
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = rate)]
    rate: f32,
    /// Weight of the search score against the game result, from 0 to 1
    #[arg(long, value_name = "PART", default_value_t = 0.7, value_parser = part)]
    score_weight: f32,
    /// Seed; with the same number of threads, the same seed gives the same net
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Moves whose positions are in memory at a time, 40 bytes each; games that fit are read once
    #[arg(long, value_name = "N", default_value_t = 32_000_000, value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    buffer: u64,
    /// Number of threads [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

fn shape(text: &str) -> Result<NetShape, String> {
    let shape = text.parse().ok().and_then(NetShape::new);
    shape.ok_or_else(|| format!("a multiple of {} up to {}", NetShape::STEP, NetShape::MAX_HIDDEN))
}

pub(super) fn rate(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0);
    rate.ok_or_else(|| "a number above 0, at most 1".into())
}

pub(super) fn part(text: &str) -> Result<f32, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a number from 0 to 1".into())
}

impl Args {
    fn settings(&self) -> Settings {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Settings {
            shape: self.hidden,
            batch: size(self.batch),
            superbatch: self.superbatch,
            superbatches: self.superbatches,
            rate: self.rate,
            score_weight: self.score_weight,
            seed: self.seed,
            buffer: size(self.buffer),
            threads: self.threads.unwrap_or_else(engine::cores).get(),
        }
    }

    fn checkpoint(&self) -> PathBuf {
        self.checkpoint.clone().unwrap_or_else(|| {
            let mut name = OsString::from(&self.out);
            name.push(".checkpoint");
            name.into()
        })
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let settings = args.settings();
    let path = args.checkpoint();
    let checkpoint = Checkpoint::read(&path)?;
    let corpus = Corpus::open(&args.files)?;
    print(|out| writeln!(out, "{} games, {} moves", corpus.games(), corpus.plies()))?;
    if args.export {
        let none = || CliError::Usage(format!("{}: no such checkpoint; train first", path.display()));
        let checkpoint = checkpoint.ok_or_else(none)?;
        return export(&args.out, checkpoint.parameters(), &corpus, &settings);
    }
    let mut run = match checkpoint {
        Some(checkpoint) => Run::resume(settings, &corpus, checkpoint)?,
        None => Run::begin(settings, &corpus)?,
    };
    if train(&mut run, &path)? {
        export(&args.out, run.parameters(), &corpus, &settings)
    } else {
        let (batches, all) = run.batches();
        // Even if stdout is closed, the checkpoint is there.
        let _ = print(|out| {
            writeln!(out, "{}: {batches} of {all} batches; the same command continues", path.display())
        });
        Ok(())
    }
}

/// Returns whether the run is done; otherwise it was interrupted.
fn train(run: &mut Run<'_>, checkpoint: &Path) -> Result<bool, CliError> {
    let (batches, all) = run.batches();
    let work = Work::begin(all, STEPS)?;
    work.bar.set_position(batches);
    let mut saved = Instant::now();
    let mut begun = Instant::now();
    let mut positions = 0;
    while !run.is_done() && !work.is_stopped() {
        let (learned, report) = run.step()?;
        positions += learned;
        work.bar.inc(1);
        if let Some(report) = report {
            let speed = positions as f64 / begun.elapsed().as_secs_f64();
            // A closed standard output does not stop the training.
            let _ = work.bar.suspend(|| tell(&report, speed));
            (begun, positions) = (Instant::now(), 0);
        }
        if report.is_some() || saved.elapsed() >= CHECKPOINT_INTERVAL {
            save(run, checkpoint)?;
            saved = Instant::now();
        }
    }
    work.bar.finish_and_clear();
    save(run, checkpoint)?;
    Ok(run.is_done())
}

fn save(run: &Run<'_>, checkpoint: &Path) -> Result<(), TrainError> {
    replace_file(checkpoint, &run.checkpoint().to_bytes())
        .map_err(|source| TrainError::Checkpoint { path: checkpoint.to_owned(), source })
}

fn tell(report: &Report, speed: f64) -> Result<(), CliError> {
    let held_out = report.held_out.map_or("none".to_owned(), |loss| format!("{loss:.6}"));
    print(|out| {
        writeln!(
            out,
            "superbatch {:3}: loss {:.6}, held out {held_out}, rate {:.6}, {:.0} positions/s",
            report.superbatch, report.loss, report.rate, speed
        )
    })
}

/// Writes the rounded net, and tells what rounding costs.
fn export(
    path: &Path,
    parameters: &Parameters,
    corpus: &Corpus,
    settings: &Settings,
) -> Result<(), CliError> {
    let held_out = corpus.held_out(settings.threads)?;
    let rounding =
        Rounding::measure(parameters, &held_out, settings.score_weight, settings.threads).map_err(usage)?;
    replace_file(path, &parameters.quantised().to_bytes()).map_err(unwritten(path))?;
    print(|out| match rounding {
        Some(Rounding { loss, rounded_loss, mean, largest }) => writeln!(
            out,
            "{}: held out {loss:.6}, rounded {rounded_loss:.6}; rounding changes {mean:.2} cp on average, {largest:.1} at most",
            path.display()
        ),
        None => writeln!(out, "{}", path.display()),
    })
}

//! `zeitnot spsa`: tunes options of an engine by games against itself.
//!
//! [`parameter`] parses `--tune`. The arithmetic and the state file are [`zeitnot_matches::spsa`], the games are those of
//! `zeitnot match`.

use std::{
    io::{self, Write},
    path::PathBuf,
    slice,
    sync::Arc,
};

use indicatif::{MultiProgress, ProgressBar};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use zeitnot_external::{Program, Value};
use zeitnot_matches::{
    Entry, EntryEngine, Format, Match, News, Schedule,
    spsa::{self, Spsa, Trial},
    tally::Tally,
};
use zeitnot_rules::{DynGame, fnv1a};

use super::{
    CliError, log,
    matches::{Conditions, Roster, until_signal},
    network::Network,
    print, progress,
};

mod parameter;

const BAR: &str = "{wide_bar} {pos}/{len} pairs {elapsed} {eta}\n{wide_msg}";
/// Capacity of the queue of finished games.
const NEWS: usize = 256;

/// Tune numbers among the options of an engine by games against itself
///
/// SPSA: each batch moves all of them up or down at random, lets both settings play pairs of games, and follows the better
/// one. The values so far are kept in the state file after each batch: after Ctrl-C or a kill the same command goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo build --release -p zeitnot-engine --features tuning
  zeitnot spsa --engine 'target/release/zeitnot-engine option.Hash=8' --nodes 5000 --concurrency 2 \\
      --draw 40,8,10 --resign 4,600 --tune ReverseFutilityMargin --tune FutilityMargin=12 \\
      --tune LateMoveDivisor=220,150,300,10 --pairs 30000 --state margins.toml

OPTION is NAME, NAME=STEP or NAME=START,MIN,MAX,STEP, in whole numbers. What is left out is as the engine says; the step,
by which the option is moved at the end, is a twentieth of its range then.")]
pub(super) struct Args {
    /// Engine, as for `zeitnot match`: a program that speaks UCI
    #[arg(long, short, value_name = "ENGINE")]
    engine: String,
    /// Option to tune; given once for each
    #[arg(long, short, value_name = "OPTION", required = true, num_args = 1)]
    tune: Vec<String>,
    /// Number of pairs of games
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: u32,
    /// Pairs that compare the same two settings
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: u32,
    /// Speed: at the end, this many steps for each game won more than lost
    #[arg(long, value_name = "STEPS", default_value_t = 0.005, value_parser = rate)]
    rate: f64,
    /// File with the values so far
    #[arg(long, value_name = "FILE", default_value = "spsa.toml")]
    state: PathBuf,
    #[command(flatten)]
    conditions: Conditions,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..=10.0).contains(rate));
    rate.ok_or_else(|| "expected a number above 0 and up to 10".to_owned())
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let lines = MultiProgress::new();
    // Faults of engines are reported beside the bar.
    let _log = log::start(&log::Config::silent(), &lines);
    let openings = args.conditions.openings()?;
    let roster = Roster::open(slice::from_ref(&args.engine), &args.conditions, &openings)?;
    let Some(entry @ Entry { engine: EntryEngine::External(program), .. }) = roster.entries.first() else {
        return Err(CliError::Usage(format!(
            "--engine '{}' plays within this process; give the path of a program, such as target/release/zeitnot-engine",
            args.engine
        )));
    };
    let parameters = parameter::parse(&args.tune, program)?;
    let settings = format!("{:016x}", fnv1a(&format!("{} {parameters:?}", args.identity())));
    let schedule = spsa::Schedule { pairs: args.pairs, rate: args.rate, seed: args.conditions.seed };
    let mut spsa = spsa::resume(&args.state, &settings, Spsa::new(parameters, schedule))?;

    let bar = lines.add(progress::bar(args.pairs.into(), BAR));
    bar.set_position(spsa.progress().pairs.into());
    bar.reset_eta();
    let stop = CancellationToken::new();
    let player = Player::start(args, entry, program, openings.positions, stop.clone(), bar.clone())?;
    while spsa.pairs_left() > 0 && !stop.is_cancelled() {
        bar.set_message(summary(&spsa));
        let (trial, pairs) = (spsa.trial(), args.batch.min(spsa.pairs_left()));
        let Some(surplus) = player.play(&spsa, &trial, pairs)? else { break };
        spsa.learn(&trial, pairs, surplus);
        spsa::save(&args.state, &settings, &spsa)?;
        bar.set_position(spsa.progress().pairs.into());
    }
    bar.finish_and_clear();
    player.end()?;
    print(|out| result(&spsa, args, out))
}

impl Args {
    /// Everything that the values depend on, as text.
    fn identity(&self) -> String {
        let Args { engine, pairs, batch, rate, conditions, .. } = self;
        format!("{engine} {pairs} {batch} {rate} {}", conditions.identity())
    }
}

/// Values in one line.
fn summary(spsa: &Spsa) -> String {
    let values = spsa.values().map(|(parameter, value)| format!("{} {value}", parameter.name));
    values.collect::<Vec<_>>().join(", ")
}

fn result(spsa: &Spsa, args: &Args, out: &mut dyn Write) -> io::Result<()> {
    let width = spsa.values().map(|(parameter, _)| parameter.name.len()).max().unwrap_or(0);
    writeln!(out, "{:width$}  {:>8}  {:>8}", "option", "start", "value")?;
    for (parameter, value) in spsa.values() {
        writeln!(out, "{:width$}  {:>8}  {value:>8}", parameter.name, parameter.start)?;
    }
    let options = spsa.values().map(|(parameter, value)| format!("'option.{}={value}'", parameter.name));
    writeln!(out, "\nFor a match: {}", options.collect::<Vec<_>>().join(" "))?;
    match spsa.pairs_left() {
        0 => Ok(()),
        left => writeln!(out, "{left} of {} pairs are left; the same command goes on.", args.pairs),
    }
}

/// Plays the batches.
struct Player<'a> {
    args: &'a Args,
    entry: &'a Entry,
    program: &'a Program,
    openings: Vec<DynGame>,
    bar: ProgressBar,
    matches: mpsc::Sender<(Match, mpsc::Sender<News>)>,
    network: Network<Result<bool, CliError>>,
}

impl<'a> Player<'a> {
    fn start(
        args: &'a Args,
        entry: &'a Entry,
        program: &'a Program,
        openings: Vec<DynGame>,
        stop: CancellationToken,
        bar: ProgressBar,
    ) -> Result<Player<'a>, CliError> {
        let (matches, mut waiting) = mpsc::channel::<(Match, mpsc::Sender<News>)>(1);
        let network = Network::start("network", move |_| async move {
            let play = async {
                while let Some((games, news)) = waiting.recv().await {
                    games.run(news, stop.clone()).await;
                }
            };
            until_signal(play, &stop).await
        })?;
        Ok(Player { args, entry, program, openings, bar, matches, network })
    }

    /// Plays pairs of games between both settings. Returns how many the first one won more than it lost; `None` if
    /// this was interrupted.
    fn play(&self, spsa: &Spsa, trial: &Trial, pairs: u32) -> Result<Option<f64>, CliError> {
        let entry = |values: &Vec<i32>| {
            let name = |(parameter, _): (&spsa::Parameter, i32)| parameter.name.clone();
            let options = spsa
                .values()
                .map(name)
                .zip(values.iter().map(|value| Value::from(value.to_string().as_str())));
            Entry {
                engine: EntryEngine::External(Arc::new(self.program.with_options(options))),
                ..self.entry.clone()
            }
        };
        // Its programs end with it.
        let roster = Roster { entries: trial.values.iter().map(entry).collect() };
        let first = spsa.progress().pairs as usize;
        let opening = |pair: usize| self.openings[(first + pair) % self.openings.len()].again();
        let openings = (0..pairs as usize).map(opening).collect();
        let schedule = Schedule::new(Format::RoundRobin, 2, 2 * pairs as usize);
        let (sender, mut news) = mpsc::channel(NEWS);
        let games = self.args.conditions.games(&roster.entries, schedule.clone(), openings);
        if self.matches.blocking_send((games, sender)).is_err() {
            return Ok(None);
        }
        let mut tally = Tally::default();
        while let Some(news) = news.blocking_recv() {
            match news {
                News::Over(played) => {
                    for fault in played.faults.iter().flatten() {
                        // Even if stderr is closed, the game counts.
                        let _ = self
                            .bar
                            .suspend(|| writeln!(io::stderr(), "the engine {fault}; it is started again"));
                    }
                    if let Some(result) = played.record.ending.result {
                        tally.record(played.fixture.of_pairing(), played.fixture.halves(result));
                    }
                }
                News::Failed(error) => return Err(CliError::Engine(error.to_string())),
            }
        }
        let is_whole = tally.games() == schedule.games();
        Ok(is_whole.then(|| tally.halves() as f64 - tally.games() as f64))
    }

    /// Waits for the end of what runs.
    fn end(self) -> Result<(), CliError> {
        drop(self.matches);
        self.network.join().map(drop)
    }
}

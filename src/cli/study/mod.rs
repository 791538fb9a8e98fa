//! `zeitnot study`: reproduces the experiments of course reports.
//!
//! [`experiments`] lists them, [`compare`] runs algorithms on positions, [`match_play`] plays matches, and
//! [`findings`] prints the results.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use zeitnot_rules::chess::Chess;

use super::{CliError, print};

mod compare;
mod experiments;
mod findings;
mod match_play;
mod openings;

use findings::Row;

/// Fifty random positions of a course at VinUni.
const POSITIONS: &str = include_str!("vinuni-50.fen");

/// Reproduce the experiments of course reports: nodes, time and moves by algorithm and depth
///
/// Minimax and its improvements on the positions of the reports, Monte Carlo tree search on TUC-Chess, and matches
/// between them. Textbook algorithms count every visited position as a node, so counts are the same on every machine.
/// For Monte Carlo tree search, nodes are iterations.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot study --quick                     a little of everything, in less than half a minute
  zeitnot study                             everything, in about half an hour
  zeitnot study positions horizon --depth 4 --csv findings.csv
  zeitnot study quiescence --positions my.fen
  zeitnot study match --games 40 --move-time 100ms")]
pub struct Args {
    /// Experiments [default: all]
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<Experiment>,
    /// Run a small selection: few positions and games, little time
    #[arg(long)]
    pub quick: bool,
    /// Maximum depth [default: 3 to 6, depending on the experiment]
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub depth: Option<u16>,
    /// File with other positions, one FEN a line
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// Duration of the iteration count of Monte Carlo tree search [default: 6]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: Option<u32>,
    /// For a move in matches, of those that do not play by depth [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub move_time: Option<Duration>,
    /// Games a match, two at once; an opening is played twice, with both sides [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub games: Option<u32>,
    /// Format of the standard output
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write a CSV file as well, with a row for each position
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Experiment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// All algorithms on fifty random positions
    Positions,
    /// All algorithms on one position where much depends on the depth
    Horizon,
    /// All algorithms on a mate in one
    Mate,
    /// With and without a transposition table
    Table,
    /// With and without quiescence
    Quiescence,
    /// TUC-Chess: iterations of Monte-Carlo tree search, and matches against alpha-beta
    Mcts,
    /// Chess: matches between Monte-Carlo tree search, our engine and alpha-beta
    Match,
}

/// Output format.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns, and averages only
    Text,
    /// Comma-separated, with a row for each position
    Csv,
}

impl Experiment {
    fn title(self) -> &'static str {
        match self {
            Experiment::Positions => "All algorithms on random positions",
            Experiment::Horizon => "All algorithms where much depends on the depth",
            Experiment::Mate => "All algorithms on a mate in one",
            Experiment::Table => "With and without a transposition table",
            Experiment::Quiescence => "With and without quiescence",
            Experiment::Mcts => "TUC-Chess: iterations of Monte-Carlo tree search, and matches",
            Experiment::Match => "Chess: matches",
        }
    }

    fn run(self, settings: &Settings, bar: &ProgressBar) -> Result<Vec<Row>, CliError> {
        match self {
            Experiment::Positions => experiments::positions(settings, bar),
            Experiment::Horizon => experiments::horizon(settings, bar),
            Experiment::Mate => experiments::mate(settings, bar),
            Experiment::Table => experiments::table(settings, bar),
            Experiment::Quiescence => experiments::quiescence(settings, bar),
            Experiment::Mcts => experiments::mcts(settings, bar),
            Experiment::Match => experiments::duels(settings, bar),
        }
    }
}

/// Settings of a run: arguments with their defaults.
struct Settings<'a> {
    args: &'a Args,
    positions: Vec<Chess>,
}

impl Settings<'_> {
    /// Number of positions in the small selection.
    const QUICK_POSITIONS: usize = 10;

    fn new(args: &Args) -> Result<Settings<'_>, CliError> {
        let text = match &args.positions {
            Some(file) => Cow::Owned(read(file)?),
            None => Cow::Borrowed(POSITIONS),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut positions = lines.map(Chess::parse).collect::<Result<Vec<_>, _>>()?;
        if positions.is_empty() {
            return Err(CliError::Usage("the file holds no position".into()));
        }
        if args.quick && args.positions.is_none() {
            positions.truncate(Self::QUICK_POSITIONS);
        }
        Ok(Settings { args, positions })
    }

    fn or<T>(&self, asked: Option<T>, usual: T, quick: T) -> T {
        asked.unwrap_or(if self.args.quick { quick } else { usual })
    }

    fn depth(&self, usual: u16, quick: u16) -> u16 {
        self.or(self.args.depth, usual, quick)
    }

    fn seconds(&self) -> Duration {
        Duration::from_secs(self.or(self.args.seconds, 6, 1).into())
    }

    fn move_time(&self) -> Duration {
        self.or(self.args.move_time, Duration::from_secs(1), Duration::from_millis(5))
    }

    fn games(&self) -> usize {
        self.or(self.args.games, 10, 2) as usize
    }
}

fn read(file: &Path) -> Result<String, CliError> {
    fs::read_to_string(file).map_err(|source| CliError::Io { doing: "cannot read the positions", source })
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a file that cannot be read or written, or an invalid position.
pub fn run(args: &Args) -> Result<(), CliError> {
    let settings = Settings::new(args)?;
    let wrong = |source| CliError::Io { doing: "cannot write the CSV file", source };
    let mut file = args.csv.as_ref().map(File::create).transpose().map_err(wrong)?;
    let mut write_file = |text: &str| file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()));
    let head = findings::csv_head();
    write_file(&head).map_err(wrong)?;
    if args.format == Format::Csv {
        print(|out| write!(out, "{head}"))?;
    }
    let all = Experiment::value_variants();
    for &experiment in if args.experiments.is_empty() { all } else { &args.experiments } {
        let bar = bar();
        let rows = experiment.run(&settings, &bar)?;
        bar.finish_and_clear();
        let csv = findings::csv(name(experiment).as_ref(), &rows);
        write_file(&csv).map_err(wrong)?;
        match args.format {
            Format::Text => {
                print(|out| writeln!(out, "{}\n\n{}", experiment.title(), findings::text(&rows)))?
            }
            Format::Csv => print(|out| write!(out, "{csv}"))?,
        }
    }
    Ok(())
}

/// Name on the command line.
fn name(experiment: Experiment) -> String {
    experiment.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Progress bar on stderr, if it is a terminal.
fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

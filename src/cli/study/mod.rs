//! `zeitnot study`: reproduces the experiments of course reports.
//!
//! [`experiments`] lists them, [`compare`] runs algorithms on positions, [`node_counts`] repeats exact counts,
//! [`match_play`] plays matches, and [`findings`] prints the results.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Write,
    path::PathBuf,
    time::Duration,
};

use clap::ValueEnum;
use zeitnot_engine::textbook::Evaluation;
use zeitnot_rules::chess::Chess;

use super::{
    CliError, io_error, print,
    progress::{STEPS, Work, bar},
    signals, table,
};

mod compare;
mod experiments;
mod findings;
mod match_play;
mod node_counts;
mod openings;

use findings::Row;

/// Fifty random positions of a course at VinUni.
const POSITIONS: &str = include_str!("vinuni-50.fen");

/// Reproduce the experiments of course reports: nodes, time and moves by algorithm and depth
///
/// Minimax and its improvements on the positions of the reports, Monte Carlo tree search on TUC-Chess, and matches
/// between them. Textbook algorithms count every visited position as a node, so counts are the same on every machine.
/// For Monte Carlo tree search, nodes are iterations. Ctrl-C ends it with the results so far.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot study --quick                     a little of everything, in less than half a minute
  zeitnot study                             everything, in about half an hour
  zeitnot study positions horizon --depth 4 --csv findings.csv
  zeitnot study cs76                        three node counts of course reports, exactly
  zeitnot study quiescence --positions my.fen
  zeitnot study match --games 40 --move-time 100ms")]
pub(super) struct Args {
    /// Experiments [default: all]
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<Experiment>,
    /// Run a small selection: few positions and games, little time
    #[arg(long)]
    quick: bool,
    /// Maximum depth [default: 3 to 6, depending on the experiment]
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=20))]
    depth: Option<u16>,
    /// File with other positions, one FEN a line; for all experiments but cs76, mcts and match
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Let the textbook algorithms evaluate by material and a random term, as reports do
    #[arg(long)]
    material: bool,
    /// Duration of the iteration count of Monte Carlo tree search [default: 6]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
    /// For a move in matches, of those that do not play by depth [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    move_time: Option<Duration>,
    /// Games a match, two at once; an opening is played twice, with both sides [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    games: Option<u32>,
    /// Format of the standard output
    #[arg(long, default_value = "text")]
    format: Format,
    /// Write a CSV file as well, with a row for each position
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// All algorithms on random positions
    Positions,
    /// All algorithms where much depends on the depth
    Horizon,
    /// All algorithms on a mate in one
    Mate,
    /// Minimax as two reports counted its nodes
    Cs76,
    /// With and without a transposition table
    Table,
    /// With and without quiescence
    Quiescence,
    /// TUC-Chess: iterations of Monte-Carlo tree search, and matches
    Mcts,
    /// Chess: matches
    Match,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns, and averages only
    Text,
    /// Comma-separated, with a row for each position
    Csv,
}

impl Experiment {
    /// Name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns whether `--positions` replaces its positions.
    fn takes_positions(self) -> bool {
        !matches!(self, Experiment::Cs76 | Experiment::Mcts | Experiment::Match)
    }

    fn run(self, settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
        match self {
            Experiment::Positions => experiments::positions(settings, work),
            Experiment::Horizon => experiments::horizon(settings, work),
            Experiment::Mate => experiments::mate(settings, work),
            Experiment::Cs76 => node_counts::cs76(work),
            Experiment::Table => experiments::table(settings, work),
            Experiment::Quiescence => experiments::quiescence(settings, work),
            Experiment::Mcts => experiments::mcts(settings, work),
            Experiment::Match => experiments::duels(settings, work),
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
        let fixed = args.experiments.iter().find(|experiment| !experiment.takes_positions());
        if let (Some(experiment), Some(_)) = (fixed, &args.positions) {
            let name = experiment.name();
            return Err(CliError::Usage(format!(
                "`{name}` has positions of its own: leave out --positions or `{name}`"
            )));
        }
        let text = match &args.positions {
            Some(file) => fs::read_to_string(file).map_err(io_error("cannot read the positions"))?.into(),
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

    fn evaluation(&self) -> Evaluation {
        if self.args.material { Evaluation::Material } else { Evaluation::Engine }
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

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let settings = Settings::new(args)?;
    let wrong = io_error("cannot write the CSV file");
    let mut file = args.csv.as_ref().map(File::create).transpose().map_err(&wrong)?;
    let mut write_csv = |text: &str| {
        file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes())).map_err(&wrong)?;
        if args.format == Format::Csv { print(|out| out.write_all(text.as_bytes())) } else { Ok(()) }
    };
    write_csv(&findings::csv_head())?;
    let all = Experiment::value_variants();
    let stop = signals::stop_flag(signals::ENDING)?;
    for &experiment in if args.experiments.is_empty() { all } else { &args.experiments } {
        if stop.is_raised() {
            break;
        }
        let work = Work { bar: bar(0, STEPS), stop: stop.clone() };
        let rows = experiment.run(&settings, &work)?;
        work.bar.finish_and_clear();
        write_csv(&findings::csv(&experiment.name(), &rows))?;
        if args.format == Format::Text {
            let title =
                experiment.to_possible_value().and_then(|value| value.get_help().map(ToString::to_string));
            let title = title.unwrap_or_default();
            print(|out| writeln!(out, "{title}\n\n{}", findings::text(&rows, table::width())))?;
        }
    }
    Ok(())
}

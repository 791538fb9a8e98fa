//! `zeitnot match`: plays engines against each other and measures which one is better.
//!
//! [`conditions`] and [`spec`] parse the arguments, [`report`] prints, and [`queue`] plays several matches; the games are
//! played, counted and written by [`zeitnot_matches`].

use std::{
    io::{self, Write},
    path::PathBuf,
    time::SystemTime,
};

use indicatif::MultiProgress;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use zeitnot_matches::{
    Format, Match, News, PgnFile, Played, Resumed, Schedule, Scoreboard, record, resume,
    sprt::{Model, Sprt, Verdict},
};
use zeitnot_rules::{DynGame, fnv1a};

use super::{CliError, log, network, print, progress, signals::Signals, table};

mod conditions;
mod queue;
mod report;
mod spec;

pub(super) use conditions::Conditions;
pub(super) use spec::{Roster, external_engine};

/// The score has a line of its own, as it may be long.
const BAR: &str = "{wide_bar} {pos}/{len} {elapsed}\n{wide_msg}";
const MAX_ENGINES: usize = 64;
/// Capacity of the queue of finished games.
const NEWS: usize = 256;

/// Play engines against each other, and measure which one is better
///
/// Each pair of engines plays each opening twice, with colours reversed. The referee runs the clocks: a move's time ends when it is read
/// from the engine. A late or illegal move, or a crash, loses the game. An engine that crashed or hangs is started
/// again for its next game.
///
/// ENGINE is a path, a program in the search path, the name of an [engines.NAME] table of the configuration, an engine
/// that plays within this process (`zeitnot`, `mcts`, `alpha-beta`), or a built-in player with a measured rating
/// (`random`, `greedy`, `minimax-2`, `alpha-beta-3`, `level-1` to `level-8`). It may be followed by arguments and by
/// settings KEY=VALUE: name=, tc=, movetime=, nodes=, depth= (for this engine only), protocol=uci|xboard|ubgi|lines|files,
/// folder=, restart=true (a new process for each game), and option.NAME= for its own options.
/// Quote what contains spaces.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot match --engine zeitnot --engine 'gnuchess --uci option.OwnBook=false' --games 200 --tc 2+0.02
  zeitnot match --engine 'target/release/zeitnot uci name=new' --engine 'before/zeitnot uci name=old' \\
      --games 20000 --nodes 10000 --concurrency 2 --sprt 0 5 --pgn games.pgn
  zeitnot match --engine 'stockfish nodes=1000' --engine 'zeitnot option.Hash=32' --movetime 50ms
  zeitnot match --engine zeitnot --engine random --config engines.toml --variant atomic --openings atomic.epd
  zeitnot match -e zeitnot -e mcts -e alpha-beta --nodes 2000 --games 20 --pgn games.pgn --resume
  zeitnot match --queue tries.toml --log docs/engine-log.md --concurrency 2 --draw 40,8,10 --resign 4,600

Ctrl-C ends a match with the score so far. With --resume the same command goes on with it, also after a crash: what
counts are the games in the PGN file.")]
pub(super) struct Args {
    /// Engine; given twice, or more often
    #[arg(long, short, value_name = "ENGINE", required_unless_present = "queue", num_args = 1)]
    engine: Vec<String>,
    /// Play the tries in this file instead, one after the other; tries with a result are skipped
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "games", "format", "pgn"])]
    queue: Option<PathBuf>,
    /// Append a row about each try to this page
    #[arg(long, value_name = "FILE", requires = "queue")]
    log: Option<PathBuf>,
    /// Pairing of the engines, if there are more than two engines; in a gauntlet the first one meets each other
    #[arg(long, value_enum, default_value_t = FormatArg::RoundRobin)]
    format: FormatArg,
    /// Number of games of each pair of engines, two for each opening
    #[arg(long, short, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    #[command(flatten)]
    conditions: Conditions,
    /// End as soon as one of two Elo differences is accepted
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    sprt: Option<Vec<f64>>,
    /// Measure these differences in normalized Elo
    #[arg(long, requires = "sprt")]
    normalized: bool,
    /// Error rate of the test, in both directions
    #[arg(long, default_value_t = 0.05, requires = "sprt", value_parser = conditions::error_rate)]
    error: f64,
    /// Append the games to this file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Continue the match in the PGN file, if it exists
    #[arg(long, requires = "pgn")]
    resume: bool,
    /// Print the score after every N games
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    report: u32,
    /// Print each result
    #[arg(long, short)]
    verbose: bool,
}

/// Value of `--format`, by the names of fastchess and cutechess-cli.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FormatArg {
    #[value(alias = "roundrobin")]
    RoundRobin,
    Gauntlet,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Format {
        match format {
            FormatArg::RoundRobin => Format::RoundRobin,
            FormatArg::Gauntlet => Format::Gauntlet,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let lines = MultiProgress::new();
    // Faults of engines are part of the score.
    let _log = log::start(&log::Config::silent(), &lines);
    match &args.queue {
        Some(path) => queue::run(args, path, &lines),
        None => play(args, &lines).map(drop),
    }
}

/// Score of a match that has ended.
struct Finished {
    scoreboard: Scoreboard,
    /// Whether it was interrupted before its end.
    is_aborted: bool,
}

/// Plays a match, and prints its result.
fn play(args: &Args, lines: &MultiProgress) -> Result<Finished, CliError> {
    if !(2..=MAX_ENGINES).contains(&args.engine.len()) {
        return Err(CliError::Usage(format!(
            "from two to {MAX_ENGINES} engines are needed: give --engine once for each"
        )));
    }
    let sprt = args.sprt()?;
    let openings = args.conditions.openings()?;
    let roster = Roster::open(&args.engine, &args.conditions, &openings)?;
    let schedule = Schedule::new(args.format.into(), roster.entries.len(), args.games as usize);
    if sprt.is_some() && schedule.pairings().len() != 1 {
        return Err(CliError::Usage("--sprt compares two engines; leave it out for more".into()));
    }
    let mut games = args.conditions.games(&roster.entries, schedule.clone(), openings.positions);
    let settings = args.settings(&games);
    let resumed = match &args.pgn {
        Some(path) if args.resume => resume(path, &settings, &games.entries, &schedule)?,
        _ => Resumed::default(),
    };
    let id = resumed
        .id
        .unwrap_or_else(|| format!("{settings} {}", humantime::format_rfc3339_seconds(SystemTime::now())));
    let mut scoreboard = Scoreboard::new(&games.entries, &schedule, sprt, args.report as usize, args.verbose);
    for game in resumed.games.iter().filter(|game| games.done.insert(game.fixture.number)) {
        scoreboard.count(game);
    }
    scoreboard.resumed = games.done.len();
    let mut pgn = args.pgn.clone().map(PgnFile::open).transpose()?;
    let source =
        args.conditions.openings.as_ref().map_or("built-in openings".into(), |path| path.to_string_lossy());
    let (title, efforts) = (scoreboard.title(), scoreboard.efforts());
    let begin = format!("{title}: {efforts}, {source} ({})", games.openings.len());
    print(|out| writeln!(out, "{}", table::fold(&begin, table::width(), 2)))?;
    if scoreboard.resumed > 0 {
        let (resumed, all) = (scoreboard.resumed, schedule.games());
        print(|out| writeln!(out, "resuming after {resumed} of {all} games: {}", scoreboard.summary()))?;
    }
    // Not earlier: lines printed above a bar leave pieces of it behind.
    let bar = lines.add(progress::bar(schedule.games() as u64, BAR));
    bar.set_position(scoreboard.resumed as u64);
    bar.set_message(scoreboard.summary());

    let stop = CancellationToken::new();
    if scoreboard.verdict() != Verdict::Open {
        stop.cancel();
    }
    let (sender, mut news) = mpsc::channel(NEWS);
    let running = stop.clone();
    let network = network::Network::start("network", move |_| async move {
        until_signal(games.run(sender, running.clone()), &running).await
    })?;

    let record = |played: &Played| record::pgn(played, &roster.entries, args.conditions.variant, &id);
    let mut failure = None;
    while let Some(news) = news.blocking_recv() {
        match news {
            News::Over(played) => {
                if let Some(told) = pgn.as_mut().and_then(|pgn| pgn.append(record(&played))) {
                    // Even if stderr is closed, the score is printed.
                    let _ = bar.suspend(|| writeln!(io::stderr(), "{told}"));
                }
                let message = scoreboard.record(&played);
                bar.inc(1);
                bar.set_message(scoreboard.summary());
                bar.suspend(|| print(|out| out.write_all(message.as_bytes())))?;
                if scoreboard.verdict() != Verdict::Open {
                    stop.cancel();
                }
            }
            News::Failed(error) => failure = Some(error),
        }
    }
    bar.finish_and_clear();
    let is_aborted = network.join()? && scoreboard.verdict() == Verdict::Open;
    print(|out| report::end(&scoreboard, is_aborted, table::width(), out))?;
    let recorded = pgn.map_or(Ok(()), PgnFile::close);
    failure.map_or(Ok(()), |error| Err(CliError::Engine(error.to_string())))?;
    recorded?;
    Ok(Finished { scoreboard, is_aborted })
}

/// Plays until the end, or a signal, which raises `stop`; returns whether there was one. A second signal does not wait for
/// the engines.
pub(super) async fn until_signal(
    playing: impl Future<Output = ()>,
    stop: &CancellationToken,
) -> Result<bool, CliError> {
    let mut signals = Signals::new()?;
    let mut running = std::pin::pin!(playing);
    tokio::select! {
        () = &mut running => return Ok(false),
        _ = signals.next() => stop.cancel(),
    }
    tokio::select! {
        () = running => {}
        _ = signals.next() => {}
    }
    Ok(true)
}

impl Args {
    /// Identifies what must be the same for games to count together, in 16 hexadecimal digits.
    fn settings(&self, games: &Match) -> String {
        let Match { entries, variant, openings, margin, adjudication, patience, .. } = games;
        let efforts: Vec<_> = entries.iter().map(|entry| (&entry.name, entry.effort)).collect();
        let openings: Vec<_> = openings.iter().map(DynGame::root).collect();
        let rules = (variant, margin, adjudication, patience);
        let text = format!("{:?} {:?} {efforts:?} {rules:?} {openings:?}", self.engine, self.format);
        format!("{:016x}", fnv1a(&text))
    }

    fn sprt(&self) -> Result<Option<Sprt>, CliError> {
        let Some([elo0, elo1]) = self.sprt.as_deref() else { return Ok(None) };
        if !(elo0 < elo1 && Sprt::RANGE.contains(elo0) && Sprt::RANGE.contains(elo1)) {
            return Err(CliError::Usage(format!(
                "--sprt {elo0} {elo1}: expected two differences in Elo, the lower one first, as in --sprt 0 5"
            )));
        }
        let model = if self.normalized { Model::Normalized } else { Model::Logistic };
        Ok(Some(Sprt { elo0: *elo0, elo1: *elo1, error: self.error, model }))
    }
}

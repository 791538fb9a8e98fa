//! `zeitnot match`: plays engines against each other and measures which one is better.
//!
//! [`spec`] parses the arguments, [`scoreboard`] counts, [`report`] and [`cross_table`] print, [`record`] and
//! [`pgn_file`] write the games, [`resume`] reads them; the games are played by [`zeitnot_arena::matches`].

use std::{
    collections::HashSet,
    io::{self, Write},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use indicatif::MultiProgress;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use zeitnot_arena as arena;
use zeitnot_arena::{
    Adjudication, DrawRule, ResignRule,
    matches::{
        Effort, Format, Match, News, Played, Schedule,
        openings::BALANCED,
        sprt::{Model, Sprt, Verdict},
    },
};
use zeitnot_engine::{PlayVisitor, Playable, with_game};
use zeitnot_rules::{DynGame, Game, GameKind, TimeControl, fnv1a};

use super::{CliError, config::Overrides, log, network, print, progress, signals::Signals, table};

mod cross_table;
mod pgn_file;
mod record;
mod report;
mod resume;
mod scoreboard;
mod spec;

use pgn_file::PgnFile;
use resume::Resumed;
use scoreboard::Scoreboard;
use spec::Roster;
pub(super) use spec::external_engine;

/// The score has a line of its own, as it may be long.
const BAR: &str = "{wide_bar} {pos}/{len} {elapsed}\n{wide_msg}";
/// Capacity of the queue of finished games.
const NEWS: usize = 256;
/// Default margin with a fixed time for each move: engines answer when it is over.
const MOVE_TIME_MARGIN: Duration = Duration::from_millis(100);
const DEFAULT_TIME: TimeControl =
    TimeControl { initial: Duration::from_secs(5), increment: Duration::from_millis(50) };

/// Play engines against each other, and measure which one is better
///
/// Each opening is played twice by each two that meet, with colours reversed. The referee runs the clocks: a move's time ends when it is read
/// from the engine. A late or illegal move, or a crash, loses the game. An engine that crashed or hangs is started
/// again for its next game.
///
/// ENGINE is a path, a program in the search path, the name of an [engines.NAME] table of the configuration, or an
/// engine of ours that plays within this process: `zeitnot`, `mcts`, `alpha-beta`, `random`. It may be followed by
/// arguments and by settings KEY=VALUE: name=, tc=, movetime=, nodes=, depth= (for this engine only),
/// protocol=uci|xboard, folder=, restart=true (a new process for each game), and option.NAME= for its own options.
/// Quote what contains spaces.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot match --engine zeitnot --engine 'gnuchess --uci option.OwnBook=false' --games 200 --tc 2+0.02
  zeitnot match --engine 'target/release/zeitnot uci name=new' --engine 'before/zeitnot uci name=old' \\
      --games 20000 --nodes 10000 --concurrency 2 --sprt 0 5 --pgn games.pgn
  zeitnot match --engine 'stockfish nodes=1000' --engine 'zeitnot option.Hash=32' --movetime 50ms
  zeitnot match --engine zeitnot --engine random --config engines.toml --variant atomic --openings atomic.epd
  zeitnot match -e zeitnot -e mcts -e alpha-beta --nodes 2000 --games 20 --pgn games.pgn --resume

Ctrl-C ends a match with the score so far. With --resume the same command goes on with it, also after a crash: what
counts are the games in the PGN file.")]
pub(super) struct Args {
    /// Engine; given twice, or more often
    #[arg(long, short, value_name = "ENGINE", required = true, num_args = 1)]
    engine: Vec<String>,
    /// Pairing of the engines, if there are more than two engines; in a gauntlet the first one meets each other
    #[arg(long, value_enum, default_value_t = FormatArg::RoundRobin)]
    format: FormatArg,
    /// Number of games of each two that meet, two for each opening
    #[arg(long, short, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// Clock of both in seconds [default: 5+0.05]
    #[arg(long, value_name = "TIME+INCREMENT", conflicts_with_all = ["movetime", "nodes", "depth"])]
    tc: Option<TimeControl>,
    /// Fixed time for each move instead, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = spec::time, conflicts_with_all = ["nodes", "depth"])]
    movetime: Option<Duration>,
    /// Fixed nodes for each move instead, which is fair on a busy machine
    #[arg(long, value_name = "N", conflicts_with = "depth", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Fixed depth for each move instead
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=200))]
    depth: Option<u16>,
    /// Concurrent games; leave a core to each thinking engine
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=512))]
    concurrency: u16,
    /// File with a FEN or EPD on each line [default: built-in openings of chess]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Seed of the order of the openings; 0 keeps the order of the file
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Game
    #[arg(long, default_value = "chess", value_parser = spec::variant)]
    variant: GameKind,
    /// End as soon as one of two Elo differences is accepted
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    sprt: Option<Vec<f64>>,
    /// Measure these differences in normalized Elo
    #[arg(long, requires = "sprt")]
    normalized: bool,
    /// Error rate of the test, in both directions
    #[arg(long, default_value_t = 0.05, requires = "sprt", value_parser = spec::error_rate)]
    error: f64,
    /// Adjudicate a draw from move FROM if no score of either exceeds CP centipawns for MOVES moves, such as 40,8,10
    #[arg(long, value_name = "FROM,MOVES,CP", value_parser = spec::drawn)]
    draw: Option<DrawRule>,
    /// Adjudicate a loss if both scores show at least CP centipawns for MOVES moves, such as 4,600
    #[arg(long, value_name = "MOVES,CP", value_parser = spec::resigned)]
    resign: Option<ResignRule>,
    /// Adjudicate a draw after this many moves
    #[arg(long, value_name = "MOVES", value_parser = clap::value_parser!(u32).range(1..))]
    longest: Option<u32>,
    /// Accept moves that are late by this [default: 0ms with a clock, 100ms with a fixed time for each move]
    #[arg(long, value_name = "TIME", value_parser = spec::time)]
    margin: Option<Duration>,
    /// Time without an answer after which an engine without a clock loses
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = spec::time)]
    patience: Duration,
    /// Append the games to this file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Go on with the match in the PGN file, if there is one
    #[arg(long, requires = "pgn")]
    resume: bool,
    /// Print the score after every N games
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    report: u32,
    /// Print each result
    #[arg(long, short)]
    verbose: bool,
    /// Configuration with [engines.NAME] tables [default: config.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
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
    let sprt = args.sprt()?;
    let openings = with_game(args.variant, Load(args))?;
    let roster = Roster::open(args, &openings)?;
    let schedule = Schedule::new(args.format.into(), roster.entries.len(), args.games as usize);
    if sprt.is_some() && schedule.pairings().len() != 1 {
        return Err(CliError::Usage("--sprt compares two engines; leave it out for more".into()));
    }
    let has_move_time = roster.entries.iter().any(|entry| matches!(entry.effort, Effort::Time(_)));
    let usual_margin = if has_move_time { MOVE_TIME_MARGIN } else { Duration::ZERO };
    let mut games = Match {
        entries: roster.entries.clone(),
        schedule: schedule.clone(),
        done: HashSet::new(),
        variant: args.variant,
        openings: openings.positions,
        concurrency: args.concurrency.into(),
        margin: args.margin.unwrap_or(usual_margin),
        adjudication: Adjudication { draw: args.draw, resign: args.resign, max_moves: args.longest },
        patience: args.patience,
    };
    let settings = args.settings(&games);
    let resumed = match &args.pgn {
        Some(path) if args.resume => resume::read(path, &settings, &games.entries, &schedule)?,
        _ => Resumed::default(),
    };
    let id = resumed
        .id
        .unwrap_or_else(|| format!("{settings} {}", humantime::format_rfc3339_seconds(SystemTime::now())));
    let mut scoreboard = Scoreboard::new(args, &games.entries, &schedule, sprt);
    for game in resumed.games.iter().filter(|game| games.done.insert(game.fixture.number)) {
        scoreboard.count(game);
    }
    scoreboard.resumed = games.done.len();
    let mut pgn = args.pgn.clone().map(PgnFile::open).transpose()?;
    let source = args.openings.as_ref().map_or("built-in openings".into(), |path| path.to_string_lossy());
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
    let network = network::Network::start("network", move |_| play(games, sender, running))?;

    let record = |played: &Played| record::pgn(played, &roster.entries, args.variant, &id);
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
    failure.map_or(recorded, |error| Err(CliError::Engine(error.to_string())))
}

struct Openings {
    positions: Vec<DynGame>,
    are_chess960: bool,
}

struct Load<'a>(&'a Args);

impl PlayVisitor for Load<'_> {
    type Out = Result<Openings, CliError>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let Load(args) = self;
        let mut openings: Vec<G> = match &args.openings {
            Some(path) => arena::openings::load(path, &start)?,
            None if args.variant == GameKind::Chess => {
                BALANCED.lines().map(|line| start.parse_position(line)).collect::<Result<_, _>>()?
            }
            None => {
                return Err(CliError::Usage(format!(
                    "--variant {0} needs --openings FILE; make one with: zeitnot openings --variant {0} > openings.epd",
                    args.variant.name()
                )));
            }
        };
        if args.seed != 0 {
            fastrand::Rng::with_seed(args.seed).shuffle(&mut openings);
        }
        let are_chess960 = openings.iter().any(Game::is_chess960);
        Ok(Openings { positions: openings.into_iter().map(DynGame::from).collect(), are_chess960 })
    }
}

/// Plays until the end, or a signal; returns whether there was one. A second signal does not wait for the engines.
async fn play(games: Match, news: mpsc::Sender<News>, stop: CancellationToken) -> Result<bool, CliError> {
    let mut signals = Signals::new()?;
    let mut running = std::pin::pin!(games.run(news, stop.clone()));
    tokio::select! {
        () = &mut running => return Ok(false),
        () = signals.next() => stop.cancel(),
    }
    tokio::select! {
        () = running => {}
        () = signals.next() => {}
    }
    Ok(true)
}

impl Args {
    /// Limit of engines without one of their own.
    fn effort(&self) -> Effort {
        match (self.movetime, self.nodes, self.depth) {
            (Some(time), ..) => Effort::Time(time),
            (_, Some(nodes), _) => Effort::Nodes(nodes),
            (.., Some(depth)) => Effort::Depth(depth),
            _ => Effort::Clock(self.tc.unwrap_or(DEFAULT_TIME)),
        }
    }

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

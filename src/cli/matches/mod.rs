//! `zeitnot match`: two engines, many games, and what the score says of who is better.
//!
//! [`spec`] reads who plays, [`sheet`] says how it stands; the games are played in [`zeitnot_arena::matches`].

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use zeitnot_arena as arena;
use zeitnot_arena::{
    Adjudication, DrawRule, ResignRule,
    matches::{
        Effort, Match, News,
        openings::BALANCED,
        sprt::{Model, Sprt, Verdict},
    },
};
use zeitnot_engine::{PlayVisitor, Playable, with_game};
use zeitnot_rules::{DynGame, GameKind, TimeControl};

use super::{CliError, log, network, print, signals::Signals};

mod sheet;
mod spec;

use sheet::Sheet;
use spec::Roster;

/// Games that may wait to be written down.
const NEWS: usize = 256;
/// What a move that has a time of its own may be late by, if nothing else is said: engines answer when it is over.
const MARGIN_OF_MOVE_TIME: Duration = Duration::from_millis(100);

/// Let two engines play a match, and say which one is better
///
/// Each opening is played twice, with both sides. The clocks are the referee's: a move counts from the moment when
/// it is read from the engine, and whoever is late loses the game, as does who plays an illegal move or crashes. An
/// engine that crashed or hangs is started again for its next game.
///
/// ENGINE is a path, the name of an [engines.NAME] table of the configuration, a program that is looked for as a shell
/// would, or one of ours that plays within this process: `zeitnot`, `mcts`, `alpha-beta`, `random`. Its arguments may follow, then settings as KEY=VALUE:
/// name=, tc=, movetime=, nodes=, depth= (this engine's own), protocol=uci|xboard, folder=, restart=true (a new process
/// for each game), and option.NAME= for options of its own. What holds spaces stands in quotes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot match --engine zeitnot --engine 'gnuchess --uci option.OwnBook=false' --games 200 --tc 2+0.02
  zeitnot match --engine 'target/release/zeitnot uci name=new' --engine 'before/zeitnot uci name=old' \\
      --games 20000 --nodes 10000 --concurrency 2 --sprt 0 5 --pgn games.pgn
  zeitnot match --engine 'stockfish nodes=1000' --engine 'zeitnot option.Hash=32' --movetime 50ms
  zeitnot match --engine zeitnot --engine random --config engines.toml --variant atomic --openings atomic.epd

A match cannot be taken up again once it has ended. Ctrl-C ends it, and the score so far stands; play on with another
--seed, and add the pairs up.")]
pub struct Args {
    /// Who plays; twice
    #[arg(long, short, value_name = "ENGINE", required = true, num_args = 1)]
    pub engine: Vec<String>,
    /// How many games; two for each opening
    #[arg(long, short, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub games: u32,
    /// Seconds for the game, and for each move: the clock of both [default: 5+0.05]
    #[arg(long, value_name = "TIME+INCREMENT", conflicts_with_all = ["movetime", "nodes", "depth"])]
    pub tc: Option<TimeControl>,
    /// A fixed time for each move instead, as in 100ms
    #[arg(long, value_name = "TIME", value_parser = spec::time, conflicts_with_all = ["nodes", "depth"])]
    pub movetime: Option<Duration>,
    /// Fixed nodes for each move instead: fair on a machine that is busy
    #[arg(long, value_name = "N", conflicts_with = "depth", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// A fixed depth for each move instead
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub depth: Option<u16>,
    /// Games at once; leave a core to each engine that thinks
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub concurrency: u16,
    /// A file with a FEN or an EPD on each line [default: our own set, for chess]
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,
    /// The order of the openings; 0: as they stand in the file
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// By which rules
    #[arg(long, default_value = "chess", value_parser = spec::variant)]
    pub variant: GameKind,
    /// End as soon as it is clear which of two differences in Elo holds
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    pub sprt: Option<Vec<f64>>,
    /// Take these differences as normalized Elo
    #[arg(long, requires = "sprt")]
    pub normalized: bool,
    /// How often the test may be wrong, either way
    #[arg(long, default_value_t = 0.05, requires = "sprt", value_parser = spec::error_rate)]
    pub error: f64,
    /// A draw, from move FROM on, when both have seen no more than CP centipawns for MOVES moves, as in 40,8,10
    #[arg(long, value_name = "FROM,MOVES,CP", value_parser = spec::drawn)]
    pub draw: Option<DrawRule>,
    /// Lost, when both have seen at least CP centipawns for MOVES moves, as in 4,600
    #[arg(long, value_name = "MOVES,CP", value_parser = spec::resigned)]
    pub resign: Option<ResignRule>,
    /// A draw after so many moves
    #[arg(long, value_name = "MOVES", value_parser = clap::value_parser!(u32).range(1..))]
    pub longest: Option<u32>,
    /// So late a move still counts [default: 0ms with a clock, 100ms with a fixed time for each move]
    #[arg(long, value_name = "TIME", value_parser = spec::time)]
    pub margin: Option<Duration>,
    /// Without a clock, an engine that says nothing for so long has lost
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = spec::time)]
    pub patience: Duration,
    /// Write the games there, behind what it holds already
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Say how it stands after each so many games
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub report: u32,
    /// Tell each game as it ends
    #[arg(long, short)]
    pub verbose: bool,
    /// Where [engines.NAME] stand [default: config.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for arguments that make no sense, engines that cannot play, and files that cannot be used.
pub fn run(args: &Args) -> Result<(), CliError> {
    with_game(args.variant, Run(args))
}

struct Run<'a>(&'a Args);

impl PlayVisitor for Run<'_> {
    type Out = Result<(), CliError>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let Run(args) = self;
        let lines = MultiProgress::new();
        // What goes wrong with engines stands in the score.
        let _log = log::start(&log::Config::silent(), &lines);
        let sprt = args.sprt()?;
        let openings = args.openings(&start)?;
        let roster = Roster::open(args, &openings)?;
        let book = match &args.openings {
            Some(path) => path.display().to_string(),
            None => "our own openings".to_owned(),
        };
        let mut sheet = Sheet::new(args, &roster.entries, sprt);
        let mut pgn = args.pgn.as_ref().map(|path| Pgn::open(path.clone())).transpose()?;
        print(|out| sheet.begin(out, &format!("{book} ({})", openings.len())))?;
        // Not before: what is printed above a bar that is drawn already leaves pieces of it behind.
        let bar = lines.add(bar(args.games));

        let has_move_time = roster.entries.iter().any(|entry| matches!(entry.effort, Effort::Time(_)));
        let usual_margin = if has_move_time { MARGIN_OF_MOVE_TIME } else { Duration::ZERO };
        let adjudication = Adjudication { draw: args.draw, resign: args.resign, max_moves: args.longest };
        let margin = args.margin.unwrap_or(usual_margin);
        let whole = Match {
            entries: roster.entries.clone(),
            variant: args.variant,
            openings: openings.into_iter().map(DynGame::from).collect(),
            games: args.games as usize,
            concurrency: args.concurrency.into(),
            margin,
            adjudication,
            patience: args.patience,
        };
        let stop = CancellationToken::new();
        let (news, mut told) = mpsc::channel(NEWS);
        let running = stop.clone();
        let network = network::Network::start("network", move |_| play(whole, news, running))?;

        let mut failure = None;
        while let Some(news) = told.blocking_recv() {
            match news {
                News::Over(played) => {
                    if let Some(pgn) = &mut pgn {
                        pgn.write(&sheet.pgn(&played))?;
                    }
                    let said = sheet.hear(&played);
                    bar.inc(1);
                    bar.set_message(sheet.short());
                    bar.suspend(|| print(|out| out.write_all(said.as_bytes())))?;
                    if sheet.verdict() != Verdict::Open && !stop.is_cancelled() {
                        stop.cancel();
                    }
                }
                News::Failed(error) => failure = Some(error),
            }
        }
        bar.finish_and_clear();
        let is_broken_off = network.join()? && sheet.verdict() == Verdict::Open;
        print(|out| sheet.end(out, is_broken_off))?;
        failure.map_or(Ok(()), |error| Err(CliError::Engine(error.to_string())))
    }
}

/// Plays until the end, or a signal; says whether it was one.
async fn play(whole: Match, news: mpsc::Sender<News>, stop: CancellationToken) -> Result<bool, CliError> {
    let mut signals =
        Signals::new().map_err(|source| CliError::Io { doing: "cannot listen for signals", source })?;
    let mut running = std::pin::pin!(whole.run(news, stop.clone()));
    tokio::select! {
        () = &mut running => return Ok(false),
        () = signals.next() => stop.cancel(),
    }
    // Engines are given a moment to leave; who does not want to give it says so.
    tokio::select! {
        () = running => {}
        () = signals.next() => {}
    }
    Ok(true)
}

impl Args {
    /// What both engines have that have nothing of their own.
    fn effort(&self) -> Result<Effort, CliError> {
        let usual = || TimeControl::from_str("5+0.05").map_err(|error| CliError::Usage(error.to_string()));
        Ok(match (self.movetime, self.nodes, self.depth) {
            (Some(time), ..) => Effort::Time(time),
            (_, Some(nodes), _) => Effort::Nodes(nodes),
            (.., Some(depth)) => Effort::Depth(depth),
            _ => Effort::Clock(self.tc.map_or_else(usual, Ok)?),
        })
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

    fn openings<G: Playable>(&self, start: &G) -> Result<Vec<G>, CliError> {
        let mut openings = match &self.openings {
            Some(path) => arena::openings::load(path, start)?,
            None if self.variant == GameKind::Chess => {
                BALANCED.lines().map(|line| start.parse_position(line)).collect::<Result<Vec<_>, _>>()?
            }
            None => {
                return Err(CliError::Usage(format!(
                    "--variant {0} needs --openings FILE; make one with: zeitnot openings --variant {0} > openings.epd",
                    self.variant.name()
                )));
            }
        };
        if self.seed != 0 {
            fastrand::Rng::with_seed(self.seed).shuffle(&mut openings);
        }
        Ok(openings)
    }
}

/// The file of games.
struct Pgn {
    path: PathBuf,
    file: File,
}

impl Pgn {
    fn open(path: PathBuf) -> Result<Pgn, CliError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)
                .map_err(|source| CliError::Unwritten { path: path.clone(), source })?;
        }
        match OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Ok(Pgn { path, file }),
            Err(source) => Err(CliError::Unwritten { path, source }),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        let written: io::Result<()> = self.file.write_all(text.as_bytes());
        written.map_err(|source| CliError::Unwritten { path: self.path.clone(), source })
    }
}

/// On a terminal, on stderr: how far it is.
fn bar(games: u32) -> ProgressBar {
    let bar = ProgressBar::new(games.into());
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

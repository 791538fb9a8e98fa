//! `zeitnot arena`: the tournament server.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use zeitnot_arena as arena;
use zeitnot_arena::{Arena, Event, Keys, Listening, News, Summary};
use zeitnot_clients::{Shutdown, contest};
use zeitnot_engine::EngineFactory;
use zeitnot_net::descriptors;
use zeitnot_pairing::Name;
use zeitnot_rules::{ByColor, Color};

mod activity;
mod orders;
mod results;
mod settings;

use super::{
    CliError,
    config::{Config, ConfigFileArgs},
    engines::Engines,
    live::Live,
    log, network, preflight, print,
    service::{
        self, Readiness,
        metrics::{self, Exporter},
    },
    signals, usage,
};

/// Run the tournaments of the configuration
///
/// Players join over TCP and WebSocket. Ends when all tournaments have ended; with a table [arena.imcs], [arena.lichess]
/// or [arena.web], only when it is stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot arena                         with the configuration in config.toml
  zeitnot arena class.toml              with another one
  zeitnot arena --set arena.tournament[0].time=60+0.5
                                        with another time for each game
  zeitnot arena keys class.keys alice bob   make keys for two players
  zeitnot arena results class --pgn     its games so far, also while it runs
  zeitnot arena create cup --time 3+0.05    create a tournament on an arena that runs
  zeitnot arena start cup                   begin it with whoever is here

Ctrl-C or SIGTERM aborts the running games, records them, and shows the standings.
Exit code: 0 at the end, 1 if a port or a folder cannot be used, 2 if the configuration is invalid.")]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFileArgs,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Generate keys for the players of a tournament
    ///
    /// Adds a line `name key` to the file for each new name. With `keys = "FILE"` in [[arena.tournament]]
    /// only these players can join, each with its key.
    Keys {
        /// File of names and keys; created if it does not exist
        file: PathBuf,
        /// Names of players
        #[arg(required = true)]
        names: Vec<String>,
    },
    #[command(flatten)]
    Order(orders::Order),
    /// Show the results of a tournament
    ///
    /// Reads the database of an arena, which may be running. Without a name it lists the tournaments.
    Results(results::Args),
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let source = args.config.source();
    match &args.task {
        Some(Task::Keys { file, names }) => return add_keys(file, names),
        Some(Task::Results(asked)) => return results::run(asked, &source),
        Some(Task::Order(order)) => return orders::run(order, &source),
        None => {}
    }
    let config = Config::load(&source)?;
    preflight::check_arena(&config)?;
    let _log = log::start(&config.log, Live::default().lines());
    descriptors::raise_limit();
    // Until the end: their programs end with them.
    let engines = open_engines(&config)?;
    let ready = engines.ready.clone();
    let summary = network::run(|_| serve(config.arena, ready, config.metrics))?;
    report(&summary?)
}

/// Opens the engines that a tournament of the configuration names, and those that an organiser may name on the page. The
/// arena does without one of the latter that fails.
fn open_engines(config: &Config) -> Result<Engines, CliError> {
    let wanted: Vec<_> = config.arena.tournament.iter().flat_map(|tournament| &tournament.engines).collect();
    let is_wanted = |name: &String| wanted.iter().any(|wanted| wanted.as_str() == name);
    let has_page = config.arena.web.is_some();
    let engines = Engines::open(config.engines.iter().filter(|(name, _)| has_page || is_wanted(name)));
    for (name, message) in engines.mistakes.iter().chain(&engines.failed) {
        if is_wanted(name) {
            return Err(CliError::Engine(message.clone()));
        }
        warn!("{message}; no tournament can have it");
    }
    engines.warnings.iter().for_each(|warning| warn!("{warning}"));
    Ok(engines)
}

fn add_keys(file: &Path, names: &[String]) -> Result<(), CliError> {
    let names: Vec<Name> =
        names.iter().map(|name| Name::try_from(name.as_str())).collect::<Result<_, _>>().map_err(usage)?;
    let added = Keys::add(file, &names).map_err(|error| usage(format!("{}: {error}", file.display())))?;
    print(|out| {
        writeln!(
            out,
            "{}: {} new, {} had a key already",
            file.display(),
            added.len(),
            names.len() - added.len()
        )
    })
}

async fn serve(
    config: arena::Config,
    engines: BTreeMap<String, EngineFactory>,
    metrics: Option<metrics::Config>,
) -> Result<Summary, CliError> {
    let open = |metrics| Exporter::open(metrics, activity::describe);
    let exporter = metrics.as_ref().map(open).transpose()?;
    let arena = Arena::with_engines(config, engines).await?;
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), "stopping: running games are aborted and recorded")?;
    tokio::spawn(signals);
    let ports = arena.listening();
    ports.iter().for_each(|port| info!("listening on {port}"));
    if let Some((page, token)) = arena.page().zip(arena.new_token()) {
        // Not to the log: the token is a secret.
        print(|out| writeln!(out, "the organiser's page, until the arena ends: {page}/#token={token}"))?;
    }
    let stays = ports.iter().any(Listening::stays);
    let tasks = TaskTracker::new();
    let ports: Vec<_> = ports.iter().map(Listening::to_string).collect();
    let status = format!("listening on {}", ports.join(", "));
    let _watchers = service::watch(exporter, Readiness::Listening, status, || {}, &shutdown, &tasks)?;
    tokio::spawn(log_events(arena.news(), stays));
    let summary = arena.run(shutdown.soon.clone()).await;
    shutdown.now.cancel();
    tasks.close();
    tasks.wait().await;
    Ok(summary)
}

/// Logs events until the arena ends. If it stays after its tournaments, their final standings are logged too.
async fn log_events(mut news: Receiver<News>, stays: bool) {
    loop {
        match news.recv().await {
            Ok(News { tournament, event }) => {
                activity::count(&event);
                info!("{tournament}: {}", message(&event));
                if stays && let Event::Over(standings) = event {
                    info!("{tournament}, final standings:\n\n{standings}");
                }
            }
            Err(RecvError::Lagged(missed)) => warn!("{missed} events were not logged: there were too many"),
            Err(RecvError::Closed) => return,
        }
    }
}

pub(super) fn message(event: &Event) -> String {
    match event {
        Event::Joined(player) => format!("{player} joined"),
        Event::Left(player) => format!("{player} left"),
        Event::Withdrawn(player) => format!("{player} was absent for too long and is out"),
        Event::GameStarted { game, names } => {
            format!("game {game}: {} – {}", names[Color::White], names[Color::Black])
        }
        Event::GameEnded { game, names, result, reason, plies } => {
            let result = result.map_or_else(|| "aborted:".to_owned(), |result| result.to_string());
            let ByColor([white, black]) = names;
            format!("game {game}: {white} – {black}: {result} {reason} ({plies} plies)")
        }
        Event::Over(_) => "all games are over".to_owned(),
    }
}

/// Prints the standings and the files of the games.
pub(super) fn report(summary: &Summary) -> Result<(), CliError> {
    print(|out| {
        for tournament in &summary.tournaments {
            let end = if tournament.complete { "final standings" } else { "standings so far" };
            if tournament.standings.rows().is_empty() {
                writeln!(out, "\n{}: no players joined", tournament.name)?;
                continue;
            }
            writeln!(out, "\n{}, {end}:\n\n{}", tournament.name, tournament.standings)?;
            if let Some(pgn) = &tournament.pgn {
                writeln!(out, "games: {}", pgn.display())?;
            }
        }
        Ok(())
    })
}

/// A configuration that listens on two free ports of this machine.
pub(super) fn loopback() -> arena::Config {
    let any_port = Some(([127, 0, 0, 1], 0).into());
    arena::Config { tcp: any_port, websocket: any_port, ..arena::Config::default() }
}

/// A client's configuration to play in a tournament of such an arena.
pub(super) fn client(
    scheme: &str,
    address: Option<SocketAddr>,
    tournament: &str,
    player: &str,
) -> Result<contest::Config, CliError> {
    let address = address.map_or_else(String::new, |address| format!("{scheme}://{address}"));
    Ok(contest::Config::new(
        address.parse().map_err(usage)?,
        tournament.to_owned().try_into().map_err(usage)?,
        player.to_owned().try_into().map_err(usage)?,
    ))
}

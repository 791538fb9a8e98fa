//! `zeitnot play`: servers, players, and the live lines, from start to the last game.

use std::{collections::BTreeMap, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use zeitnot_bot::{Bot, BotContext, cache::Cache, sources::MoveSources};
use zeitnot_clients::{ProtocolError, Shutdown, lookup::Lookup};
use zeitnot_engine::{EngineFactory, priority::Granted, syzygy::Tablebases};
use zeitnot_seat::Lobby;

use super::{CliError, config::Config, engines::Engines, live::Live, log, network, signals};

/// Play on the servers of the configuration
///
/// Plays one game after another until it is stopped. A server that is not there is tried again and again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot play                         with the configuration in config.toml
  zeitnot play --config class.toml     with another one
  zeitnot play --once 10               ten games on each server, and leave
  RUST_LOG=debug zeitnot play          and say more

The first Ctrl-C or SIGTERM finishes the running games, the second one leaves them.
Exit code: 0 when stopped, 1 if a server refused us, 2 if the configuration is wrong.")]
pub struct Args {
    /// The configuration; `zeitnot check --default` prints one
    #[arg(long, short, value_name = "FILE", default_value = "config.toml")]
    pub config: PathBuf,
    /// Leave each server after N games, whatever its `games` says; for all protocols but "contest"
    #[arg(long, value_name = "N")]
    pub once: Option<NonZeroU32>,
}

/// News on their way to the screen. More are dropped: the next ones tell the same better.
pub(super) const NEWS: usize = 256;
/// Said once, where the network side is one thread among many.
const NOT_RAISED: &str = "the system does not let us go before other programs: where it is busy, answers may leave \
    some milliseconds late, and that much is kept in hand; `setcap cap_sys_nice+ep` on the program allows it";
/// What the players may take to put their things away.
const GOODBYE: Duration = Duration::from_secs(5);

/// Runs the command.
///
/// # Errors
/// [`CliError`]: a wrong configuration, or a server that refused us.
pub fn run(args: &Args) -> Result<(), CliError> {
    let mut config = Config::load(&args.config)?;
    if config.servers.is_empty() {
        let file = args.config.display();
        return Err(CliError::Usage(format!("{file}: nowhere to play: add a [[server]] table")));
    }
    if let Some(games) = args.once {
        count(&mut config, games)?;
    }
    let endgames = Tablebases::open(&config.engine.syzygy)?;
    let factory = EngineFactory::new(&config.engine)?.with_endgames(endgames, &config.engine.syzygy);
    let sources = sources(&config)?;
    let engines = Engines::open(&config)?;
    let live = Live::new();
    let _log = log::start(&config.log, live.lines());
    engines.warnings.iter().for_each(|warning| warn!("{warning}"));
    let hands = engines.ready.clone();
    let played = network::run(move |granted| play(config, factory, sources, hands, live, granted));
    // Whatever still runs of them has nobody to play for.
    engines.close();
    played?
}

/// Opens the sources of moves: books, and servers that are asked.
///
/// # Errors
/// [`CliError`] for a file that is not a book, or a server that cannot be asked.
pub(super) fn sources(config: &Config) -> Result<MoveSources, CliError> {
    let lookup = Arc::new(Lookup::new(&config.online_moves)?);
    let (order, book) = (config.bot.sources.clone(), &config.bot.book);
    MoveSources::open(order, book, Some(lookup)).map_err(CliError::Book)
}

/// Each server is left after so many games.
fn count(config: &mut Config, games: NonZeroU32) -> Result<(), CliError> {
    for (at, server) in config.servers.iter_mut().enumerate() {
        let counted = server.limit_games(games);
        counted.map_err(|why| CliError::Usage(format!("--once: server[{at}] cannot be left so: {why}")))?;
    }
    Ok(())
}

async fn play(
    config: Config,
    factory: EngineFactory,
    sources: MoveSources,
    mut engines: BTreeMap<String, EngineFactory>,
    live: Live,
    granted: Granted,
) -> Result<(), CliError> {
    if granted == Granted::Usual {
        info!("{NOT_RAISED}");
    }
    let factory = factory.behind(granted);
    engines = engines.into_iter().map(|(name, engine)| (name, engine.behind(granted))).collect();
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), signals::FINISHING)
        .map_err(|source| CliError::Io { doing: "cannot listen for signals", source })?;
    let tasks = TaskTracker::new();
    let (news, to_screen) = mpsc::channel(NEWS);
    let cache = Cache::open(&config.cache, factory.fingerprint());
    let mut context = BotContext::new(config.bot, factory, news);
    context.set_cache(cache.clone());
    context.sources = sources;
    context.set_engines(&engines);
    let lobby = players(context, &tasks, &shutdown);
    tasks.spawn(live.show(to_screen)?);
    tasks.spawn(signals);

    let mut servers = JoinSet::new();
    for server in config.servers {
        servers.spawn(server.run(lobby.clone(), shutdown.clone()));
    }
    drop(lobby);
    let result = all(servers).await;
    leave(&shutdown, &tasks).await;
    cache.close();
    if let Some(report) = cache.report() {
        info!("{report}");
    }
    result
}

/// Waits for all servers: what one of them cannot do is no reason to leave the others.
async fn all(mut servers: JoinSet<Result<(), ProtocolError>>) -> Result<(), CliError> {
    let mut first = Ok(());
    while let Some(ended) = servers.join_next().await {
        let ended = ended.map_err(CliError::from).and_then(|ended| Ok(ended?));
        if let Err(error) = &ended
            && !servers.is_empty()
        {
            error!("{error}");
        }
        first = first.and(ended);
    }
    first
}

/// Who plays the games that the servers bring.
pub(super) fn players(context: BotContext, tasks: &TaskTracker, shutdown: &Shutdown) -> Lobby {
    let (lobby, bot) = Bot::channel(context);
    tasks.spawn(bot.run(shutdown.now.clone()));
    lobby
}

/// Stops what still runs, but does not wait for ever.
pub(super) async fn leave(shutdown: &Shutdown, tasks: &TaskTracker) {
    shutdown.now.cancel();
    tasks.close();
    if timeout(GOODBYE, tasks.wait()).await.is_err() {
        warn!("left without waiting for a task that does not end; please report it");
    }
}

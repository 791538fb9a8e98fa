//! `zeitnot play`: plays on the configured servers.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use zeitnot_arena::{BotControl, BotPage};
use zeitnot_bot::{Bot, BotContext, cache::Cache, sources::MoveSources};
use zeitnot_clients::{ProtocolError, Shutdown};
use zeitnot_engine::{EngineFactory, priority::Granted};
use zeitnot_seat::Lobby;

use super::{
    CliError,
    bot_page::{
        self, Controls,
        errors::{ErrorLayer, Logged},
        orders::ServerControl,
    },
    config::{Config, ConfigFileArgs},
    live::Live,
    log, network,
    preflight::Prepared,
    signals,
};

/// Play on the servers of the configuration
///
/// Plays one game after another until it is stopped. Lost connections are opened again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot play                         with the configuration in config.toml
  zeitnot play class.toml              with another one
  zeitnot play --once 10               leave each server after ten games
  zeitnot play --player second --set cache.file=second.redb
                                       a second bot by the same configuration
  RUST_LOG=debug zeitnot play          log more

The first Ctrl-C or SIGTERM finishes the running games, the second one leaves them.
Exit code: 0 when stopped, 1 if a server refused us, 2 if the configuration is invalid.")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFileArgs,
    /// Our name on all servers: overrides `player`, and `user` of the protocol "imcs"
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Leave each server after N games, and a contest also when its tournament is over; overrides `games`
    #[arg(long, value_name = "N")]
    once: Option<NonZeroU32>,
}

/// Capacity of the queue to the live lines. More updates are dropped, as later ones replace them.
pub(super) const NEWS: usize = 256;
/// Logged if the network thread has no raised priority.
const NOT_RAISED: &str = "the system does not allow a raised priority: on a busy machine moves may be sent some \
    milliseconds late, and that much is kept in reserve; `setcap cap_sys_nice+ep` on the program allows it";
/// Time for the remaining tasks to end.
const GOODBYE: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut source = args.config.source();
    source.overrides.player = args.player.clone();
    let mut config = Config::load(&source)?;
    if config.servers.is_empty() {
        let file = source.config.display();
        return Err(CliError::Usage(format!("{file}: nowhere to play: add a [[server]] table")));
    }
    if let Some(games) = args.once {
        config.servers.iter_mut().for_each(|server| server.limit_games(games));
    }
    let Prepared { factory, sources, engines, warnings, .. } =
        Prepared::open(&source.config.display().to_string(), &config)?;
    let live = Live::default();
    let (errors, logged) = config.web.is_some().then(ErrorLayer::channel).unzip();
    let _log = log::start_with(&config.log, live.lines(), errors);
    warnings.iter().for_each(|warning| warn!("{warning}"));
    let ready = engines.ready.clone();
    let played = network::run(move |granted| play(config, factory, sources, ready, live, logged, granted));
    engines.close();
    played?
}

async fn play(
    config: Config,
    factory: EngineFactory,
    sources: MoveSources,
    mut engines: BTreeMap<String, EngineFactory>,
    live: Live,
    logged: Option<mpsc::Receiver<Logged>>,
    granted: Granted,
) -> Result<(), CliError> {
    if granted == Granted::Usual {
        info!("{NOT_RAISED}");
    }
    let factory = factory.behind(granted);
    engines = engines.into_iter().map(|(name, engine)| (name, engine.behind(granted))).collect();
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), signals::FINISHING)?;
    let tasks = TaskTracker::new();
    let (news, to_screen) = mpsc::channel(NEWS);
    tasks.spawn(live.show(to_screen)?);
    let (controls, queues): (Vec<_>, Vec<_>) = config.servers.iter().map(ServerControl::new).unzip();
    let page = match config.web.zip(logged) {
        Some((web, logged)) => {
            let (control, orders) = BotControl::channel(shutdown.soon.clone());
            let page = BotPage::bind(web, control)?;
            let controls = Controls { servers: controls, orders, logged };
            Some(bot_page::start(page, controls, news.clone(), &tasks, &shutdown)?)
        }
        None => None,
    };
    let news = page.as_ref().map_or(news, |page| page.statuses.clone());
    let cache = Cache::open(&config.cache, factory.fingerprint());
    let mut context = BotContext::new(config.bot, factory, news);
    context.set_cache(cache.clone());
    context.sources = sources;
    context.set_engines(&engines);
    context.answers = page.as_ref().map(|page| page.answers.clone());
    let mut lobby = players(context, &tasks, &shutdown);
    if let Some(page) = &page {
        lobby = lobby.with_news(page.news.clone());
    }
    tasks.spawn(signals);

    let mut servers = JoinSet::new();
    for (number, (server, orders)) in config.servers.into_iter().zip(queues).enumerate() {
        let playing = server.run(lobby.clone(), orders, shutdown.clone());
        let left = page.as_ref().map(|page| page.left.clone());
        servers.spawn(async move {
            let ended = playing.await;
            if let Some(left) = left {
                let _ = left.try_send((number, ended.as_ref().err().map(ToString::to_string)));
            }
            ended
        });
    }
    drop((lobby, page));
    let result = all(servers).await;
    leave(&shutdown, &tasks).await;
    cache.close();
    if let Some(report) = cache.report() {
        info!("{report}");
    }
    result
}

/// Waits for all servers, and returns the first error. An error of one does not end the others.
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

/// Starts the bot that plays the games of the servers.
pub(super) fn players(context: BotContext, tasks: &TaskTracker, shutdown: &Shutdown) -> Lobby {
    let (lobby, bot) = Bot::channel(context);
    tasks.spawn(bot.run(shutdown.now.clone()));
    lobby
}

/// Stops the remaining tasks, and waits for them for a limited time.
pub(super) async fn leave(shutdown: &Shutdown, tasks: &TaskTracker) {
    shutdown.now.cancel();
    tasks.close();
    if timeout(GOODBYE, tasks.wait()).await.is_err() {
        warn!("exiting although a task has not ended; please report it");
    }
}

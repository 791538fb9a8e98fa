//! `zeitnot play`: plays on the configured servers.

use std::{collections::BTreeMap, fmt, mem, num::NonZeroU32, path::PathBuf, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{error, info, warn};

use zeitnot_bot as bot;
use zeitnot_bot::{Activity, Bot, BotContext, GameStatus, cache::Cache, sources::MoveSources};
use zeitnot_clients::{ProtocolError, Server, Shutdown};
use zeitnot_engine::{EngineFactory, priority::Granted};
use zeitnot_net::descriptors;
use zeitnot_seat::{CLIENT_TIMEOUT, Lobby, OrderQueue, Orders};
use zeitnot_web::{
    bot_page::BotPage,
    page::{self, BotControl},
};

use super::{
    CliError,
    bot_page::{self, Controls, Reporter, orders::ServerControl},
    config::{Config, ConfigFileArgs},
    live::Live,
    log, network,
    preflight::Prepared,
    reload::{Playing, Reload},
    service::{
        self, Connections, Readiness,
        client_events::{ClientEvents, Logged},
        connections,
        metrics::Exporter,
    },
    signals::{self, Hangup, Hangups},
};

/// Play on the servers of the configuration
///
/// Plays one game after another until it is stopped. Lost connections are reopened.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot play                         with the configuration in config.toml
  zeitnot play class.toml              with another one
  zeitnot play --once 10               leave each server after ten games
  zeitnot play --player second --set cache.file=second.redb
                                       a second bot by the same configuration
  RUST_LOG=debug zeitnot play          log more

The first Ctrl-C or SIGTERM finishes the running games, the second one leaves them, as SIGQUIT does
at once. SIGHUP reads the configuration again, and takes over what can change while games run.
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
    /// Copy of the log in a file, which is rotated; overrides `log.file`
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
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
    let mut config = Config::load_to_play(&source)?;
    if let Some(games) = args.once {
        config.servers.iter_mut().for_each(|server| server.limit_games(games));
    }
    config.log.file = args.log_file.clone().or(config.log.file.take());
    let Prepared { factory, sources, engines, warnings, .. } = Prepared::open(&config)?;
    let live = Live::default();
    let mut events = ClientEvents::default();
    let logged = config.web.is_some().then(|| events.for_page());
    let connections = events.connections.clone();
    let log = log::start_with(&config.log, live.lines(), Some(events));
    warnings.iter().for_each(|warning| warn!("{warning}"));
    let ready = engines.ready.clone();
    let (bot, updates) = watch::channel(config.bot.clone());
    let playing = Playing::new(mem::take(&mut config.servers), mem::take(&mut config.keys.values));
    let reload = Reload { source, playing, log: log.filter.clone(), bot };
    let beside = Beside { live, logged, connections, reload, updates };
    descriptors::raise_limit();
    let played = network::run(move |granted| play(config, factory, sources, ready, beside, granted));
    engines.close();
    played?
}

/// Everything beside the games: what shows them, and what changes their configuration.
struct Beside {
    live: Live,
    logged: Option<mpsc::Receiver<Logged>>,
    connections: Connections,
    reload: Reload,
    /// Configurations that it takes over.
    updates: watch::Receiver<bot::Config>,
}

async fn play(
    config: Config,
    factory: EngineFactory,
    sources: MoveSources,
    mut engines: BTreeMap<String, EngineFactory>,
    Beside { live, logged, connections, reload, updates }: Beside,
    granted: Granted,
) -> Result<(), CliError> {
    // Before anything is measured.
    let describe = || {
        bot::metrics::describe();
        connections::describe();
    };
    let exporter = config.metrics.as_ref().map(|metrics| Exporter::open(metrics, describe)).transpose()?;
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
    let (controls, queues): (Vec<_>, Vec<_>) = reload.playing.servers.iter().map(ServerControl::new).unzip();
    let open = |(web, logged)| open_page(web, controls, logged, news.clone(), &tasks, &shutdown);
    let page = config.web.zip(logged).map(open).transpose()?;
    let news = page.as_ref().map_or(news, |page| page.statuses.clone());
    let cache = Cache::open(&config.cache, factory.fingerprint());
    let mut context = BotContext::new(config.bot, factory, news);
    context.set_cache(cache.clone());
    context.sources = sources;
    context.set_engines(&engines);
    context.answers = page.as_ref().map(|page| page.answers.clone());
    let status = BotStatus {
        activity: context.activity(),
        connections: connections.clone(),
        soon: shutdown.soon.clone(),
    };
    let cached = cache.clone();
    let readiness = Readiness::Connected(connections);
    let update = move || cached.publish_metrics();
    let _watchers = service::watch(exporter, readiness, status, update, &shutdown, &tasks)?;
    let (mut lobby, bot) = Bot::channel(context);
    tasks.spawn(bot.with_updates(updates).run(shutdown.now.clone()));
    if let Some(page) = &page {
        lobby = lobby.with_news(page.news.clone());
    }
    tasks.spawn(signals);
    let left = page.map(|page| page.left);
    let clients = start(reload.playing.servers.iter().zip(queues), lobby, left, &shutdown);
    tasks.spawn(reload_at_hangups(reload, Hangups::new()?, shutdown.clone()));
    let result = all(clients).await;
    leave(&shutdown, &tasks).await;
    cache.close();
    if let Some(report) = cache.report() {
        info!("{report}");
    }
    result
}

/// Serves the bot's page; returns the ways to report to it.
fn open_page(
    web: page::Config,
    servers: Vec<ServerControl>,
    logged: mpsc::Receiver<Logged>,
    news: mpsc::Sender<GameStatus>,
    tasks: &TaskTracker,
    shutdown: &Shutdown,
) -> Result<Reporter, CliError> {
    let (control, orders) = Orders::channel(CLIENT_TIMEOUT);
    let page = BotPage::bind(web, BotControl { soon: shutdown.soon.clone(), orders: control })?;
    bot_page::start(page, Controls { servers, orders, logged }, news, tasks, shutdown)
}

/// Starts the clients of all servers. `left` hears of those that have ended.
fn start<'s>(
    servers: impl Iterator<Item = (&'s Server, OrderQueue)>,
    lobby: Lobby,
    left: Option<mpsc::Sender<(usize, Option<String>)>>,
    shutdown: &Shutdown,
) -> JoinSet<Result<(), ProtocolError>> {
    let mut clients = JoinSet::new();
    for (number, (server, orders)) in servers.enumerate() {
        let playing = server.run(lobby.clone(), orders, shutdown.clone());
        let left = left.clone();
        clients.spawn(async move {
            let ended = playing.await;
            if let Some(left) = left {
                let _ = left.try_send((number, ended.as_ref().err().map(ToString::to_string)));
            }
            ended
        });
    }
    clients
}

/// Reads the configuration again at each hangup, until the terminal or the bot has gone.
async fn reload_at_hangups(mut reload: Reload, mut hangups: Hangups, shutdown: Shutdown) {
    while let Some(hangup) = shutdown.now.run_until_cancelled(hangups.next()).await {
        match hangup {
            Hangup::Reload => reload.reload().await,
            Hangup::TerminalGone => {
                info!("the terminal is gone: {}", signals::FINISHING);
                return shutdown.soon.cancel();
            }
        }
    }
}

struct BotStatus {
    activity: Activity,
    connections: Connections,
    soon: CancellationToken,
}

impl fmt::Display for BotStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let games = self.activity.games();
        let leaving = if self.soon.is_cancelled() { "leaving after " } else { "" };
        let plural = if games == 1 { "" } else { "s" };
        write!(f, "{leaving}{games} game{plural}; {}", self.connections)?;
        match self.activity.lag() {
            Some(lag) => write!(f, "; lag {} ms", lag.as_millis()),
            None => Ok(()),
        }
    }
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

/// Stops the remaining tasks, and waits for them for a limited time.
pub(super) async fn leave(shutdown: &Shutdown, tasks: &TaskTracker) {
    shutdown.now.cancel();
    tasks.close();
    if timeout(GOODBYE, tasks.wait()).await.is_err() {
        warn!("exiting although a task has not ended; please report it");
    }
}

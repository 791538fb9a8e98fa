//! `zeitnot demo`: a tournament on this machine: an arena on loopback, and three bots that join it as any client would.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::task::TaskTracker;
use tracing::{error, info};

use zeitnot_arena::{Arena, Config, Event, Summary, TournamentConfig};
use zeitnot_bot as bot;
use zeitnot_bot::BotContext;
use zeitnot_clients::{Protocol, Shutdown, contest};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind, priority::Granted};
use zeitnot_rules::TimeControl;

use super::{
    CliError, arena,
    live::Live,
    log, network,
    play::{NEWS, leave, players},
    print, signals, usage,
};

/// Show a small tournament on this machine
///
/// An arena on two free ports, our engine over TCP, our engine over WebSocket with a tenth of the time, and a bot that
/// plays random moves. Each pair plays two games. Takes about half a minute.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

const TIME: TimeControl =
    TimeControl { initial: Duration::from_secs(3), increment: Duration::from_millis(50) };
/// Time between two games of a player.
const PAUSE: Duration = Duration::from_millis(500);
/// Size of each bot's transposition table.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
const TOURNAMENT: &str = "demo";
/// Names, thinkers, and shares of the time. The second bot uses WebSocket.
const BOTS: [(&str, Kind, f64); 3] =
    [("zeitnot", Kind::Search, 1.0), ("zeitnot-tenth", Kind::Search, 0.1), ("sparring", Kind::Random, 1.0)];
const OVER_WEBSOCKET: usize = 1;

pub(super) fn run() -> Result<(), CliError> {
    let live = Live::default();
    let _log = log::start(&log::Config::quiet(), live.lines());
    print(|out| {
        writeln!(out, "An arena and three bots, {TIME} seconds a game. `zeitnot help` lists commands.")
    })?;
    let summary = network::run(|granted| demo(live, granted))?;
    arena::report(&summary?)
}

async fn demo(live: Live, granted: Granted) -> Result<Summary, CliError> {
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), "stopping: the running game is aborted")?;
    // The bots stop with the arena, or when all games are over.
    let bots = Shutdown { soon: shutdown.soon.child_token(), now: shutdown.now.clone() };
    let tournament = TournamentConfig {
        players: Some(BOTS.len()),
        pairing_interval: PAUSE / 5,
        pause: PAUSE,
        ..TournamentConfig::new(TOURNAMENT.to_owned().try_into().map_err(usage)?, TIME)
    };
    // Each demo begins anew.
    let database = Some(PathBuf::new());
    let config = Config { tournament: vec![tournament], database, ..arena::loopback() };
    let arena = Arena::bind(config).await?;
    let tasks = TaskTracker::new();
    let (news, to_screen) = mpsc::channel(NEWS);
    tasks.spawn(signals);
    tasks.spawn(live.show(to_screen)?);

    let mut servers = JoinSet::new();
    for (number, (name, kind, time_share)) in BOTS.into_iter().enumerate() {
        let (scheme, address) = match number {
            OVER_WEBSOCKET => ("ws", arena.websocket()),
            _ => ("tcp", arena.tcp()),
        };
        let config = arena::client(scheme, address, TOURNAMENT, name)?;
        let engine = engine::Config { kind, hash_mib: HASH_MIB, ..engine::Config::default() };
        let bot = bot::Config { time_share, ..bot::Config::default() };
        let context = BotContext::new(bot, EngineFactory::new(&engine)?.behind(granted), news.clone());
        let lobby = players(context, &tasks, &bots);
        servers.spawn(contest::Contest::run(config, lobby, bots.clone()));
    }
    drop(news);

    let mut events = arena.news();
    let soon = bots.soon.clone();
    tasks.spawn(async move {
        while let Ok(news) = events.recv().await {
            match &news.event {
                // Otherwise the bots would try to reconnect to an arena that has ended.
                Event::Over => soon.cancel(),
                event => arena::message(event).into_iter().for_each(|message| info!("{message}")),
            }
        }
    });
    let summary = arena.run(shutdown.soon.clone()).await;
    bots.soon.cancel();
    while let Some(ended) = servers.join_next().await {
        if let Err(refused) = ended? {
            error!("{refused}");
        }
    }
    leave(&shutdown, &tasks).await;
    Ok(summary)
}

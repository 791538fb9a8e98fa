//! `zeitnot demo`: the whole house on one machine, in half a minute. An arena on loopback, and three
//! bots that join it as any client would.

use std::{num::NonZeroUsize, time::Duration};

use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::task::TaskTracker;
use tracing::{error, info};

use zeitnot_arena::{Arena, Config, Event, Name, Summary, TournamentConfig};
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
    print, signals,
};

/// Show a small tournament on this machine
///
/// An arena on two free ports, our engine over TCP, our engine over WebSocket with a tenth of the time,
/// and a sparring partner that plays any move: everybody meets everybody twice. Takes about half a minute.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The time of the demo's games.
const TIME: TimeControl =
    TimeControl { initial: Duration::from_secs(3), increment: Duration::from_millis(50) };
/// Somebody is watching: no long pauses.
const PAUSE: Duration = Duration::from_millis(500);
/// What each bot's table takes.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
const TOURNAMENT: &str = "demo";

/// One of the bots.
struct Contender {
    name: &'static str,
    kind: Kind,
    time_share: f64,
    over: Over,
}

enum Over {
    Tcp,
    WebSocket,
}

const CONTENDERS: [Contender; 3] = [
    Contender { name: "zeitnot", kind: Kind::Search, time_share: 1.0, over: Over::Tcp },
    Contender { name: "zeitnot-tenth", kind: Kind::Search, time_share: 0.1, over: Over::WebSocket },
    Contender { name: "sparring", kind: Kind::Random, time_share: 1.0, over: Over::Tcp },
];

/// Runs the command.
///
/// # Errors
/// [`CliError`]: no port, no memory, or nowhere to write the games.
pub fn run(_: &Args) -> Result<(), CliError> {
    let live = Live::new();
    let _log = log::start(&log::Config::quiet(), live.lines());
    print(|out| {
        use std::io::Write;
        writeln!(
            out,
            "An arena and three bots, {TIME} seconds a game. `zeitnot help` says what else there is."
        )
    })?;
    let summary = network::run(|granted| demo(live, granted))?;
    arena::report(&summary?)
}

async fn demo(live: Live, granted: Granted) -> Result<Summary, CliError> {
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), "stopping: the running game is broken off")
        .map_err(|source| CliError::Io { doing: "cannot listen for signals", source })?;
    // Told to stop with the arena, and also when there is nothing more to play.
    let bots = Shutdown { soon: shutdown.soon.child_token(), now: shutdown.now.clone() };
    let arena = Arena::bind(arena_config()?).await?;
    let tasks = TaskTracker::new();
    let (news, to_screen) = mpsc::channel(NEWS);
    tasks.spawn(signals);
    tasks.spawn(live.show(to_screen)?);

    let mut servers = JoinSet::new();
    for contender in &CONTENDERS {
        let address = match contender.over {
            Over::Tcp => arena.tcp().map(|at| format!("tcp://{at}")),
            Over::WebSocket => arena.websocket().map(|at| format!("ws://{at}")),
        };
        let address = address.unwrap_or_default().parse().map_err(usage)?;
        let player = contender.name.to_owned().try_into().map_err(usage)?;
        let tournament = TOURNAMENT.to_owned().try_into().map_err(usage)?;
        let config = contest::Config::new(address, tournament, player);
        let engine = engine::Config { kind: contender.kind, hash_mib: HASH_MIB, ..engine::Config::default() };
        let bot = bot::Config { time_share: contender.time_share, ..bot::Config::default() };
        let context = BotContext::new(bot, EngineFactory::new(&engine)?.behind(granted), news.clone());
        let lobby = players(context, &tasks, &bots);
        servers.spawn(contest::Contest::run(config, lobby, bots.clone()));
    }
    drop(news);

    let mut arena_news = arena.news();
    let soon = bots.soon.clone();
    tasks.spawn(async move {
        while let Ok(news) = arena_news.recv().await {
            match &news.event {
                // The bots leave before the arena does, and need not wonder where it is.
                Event::Over => soon.cancel(),
                event => arena::line(event).into_iter().for_each(|line| info!("{line}")),
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

fn arena_config() -> Result<Config, CliError> {
    let loopback = Some(([127, 0, 0, 1], 0).into());
    let tournament = TournamentConfig {
        players: Some(CONTENDERS.len()),
        pairing_interval: PAUSE / 5,
        pause: PAUSE,
        ..TournamentConfig::new(Name::try_from(TOURNAMENT).map_err(usage)?, TIME)
    };
    Ok(Config { tcp: loopback, websocket: loopback, tournament: vec![tournament], ..Config::default() })
}

fn usage(error: impl std::fmt::Display) -> CliError {
    CliError::Usage(error.to_string())
}

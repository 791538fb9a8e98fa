//! `zeitnot demo`: a tournament on this machine: an arena on loopback, and three bots that join it as any client would.

use std::{
    future::pending,
    io::{self, IsTerminal},
    num::NonZeroUsize,
    path::PathBuf,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use zeitnot_arena::{Arena, Config, Event, Summary, TournamentConfig};
use zeitnot_bot as bot;
use zeitnot_bot::{Bot, BotContext};
use zeitnot_clients::{OrderQueue, Protocol, Shutdown, contest};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind, priority::Granted};
use zeitnot_net::descriptors;
use zeitnot_rules::TimeControl;
use zeitnot_web::page;

use super::{
    CliError, arena, browser,
    live::Live,
    log, network,
    play::{NEWS, leave},
    print, signals, thought, usage,
};

/// Show a small tournament on this machine
///
/// An arena on free ports, our engine over TCP, our engine over WebSocket with a tenth of the time, and a bot that plays
/// random moves. Each pair plays two games. Takes about half a minute. The games can be watched in a browser, at the
/// address that is shown; on a terminal the page stays while a browser is connected.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Args {
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Keep the page after the last game, until Ctrl-C
    #[arg(long)]
    stay: bool,
}

const TIME: TimeControl =
    TimeControl { initial: Duration::from_secs(3), increment: Duration::from_millis(50) };
/// Time between two games of a player.
const PAUSE: Duration = Duration::from_millis(500);
/// Time in which a browser that loads the page anew is back.
const RELOAD: Duration = Duration::from_secs(5);
/// Size of each bot's transposition table.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
const TOURNAMENT: &str = "demo";
/// Names, thinkers, and shares of the time. The second bot uses WebSocket.
const BOTS: [(&str, Kind, f64); 3] =
    [("zeitnot", Kind::Search, 1.0), ("zeitnot-tenth", Kind::Search, 0.1), ("sparring", Kind::Random, 1.0)];
const OVER_WEBSOCKET: usize = 1;

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let live = Live::default();
    let _log = log::start(&log::Config::quiet(), live.lines());
    print(|out| {
        writeln!(out, "An arena and three bots, {TIME} seconds a game. `zeitnot help` lists commands.")
    })?;
    let opens = args.open;
    let stays = Stays::of(args);
    descriptors::raise_limit();
    let summary = network::run(move |granted| demo(live, granted, opens, stays))?;
    arena::report(&summary?)
}

/// Time for which the page stays after the last game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stays {
    Never,
    WhileWatched,
    UntilStopped,
}

impl Stays {
    fn of(args: &Args) -> Stays {
        match (args.stay, io::stdout().is_terminal()) {
            (true, _) => Stays::UntilStopped,
            (false, true) => Stays::WhileWatched,
            (false, false) => Stays::Never,
        }
    }

    /// Waits for the end of the page; `spectators` are those who watch.
    async fn wait(self, page: &str, mut spectators: watch::Receiver<usize>) {
        let is_watched = *spectators.borrow() > 0;
        match self {
            Stays::UntilStopped => info!("all games are over; {page} stays until Ctrl-C"),
            Stays::WhileWatched if is_watched => {
                info!("all games are over; the page stays while a browser shows it");
            }
            Stays::Never | Stays::WhileWatched => return,
        }
        if self == Stays::UntilStopped {
            return pending().await;
        }
        // A browser that loads the page anew comes back at once.
        while spectators.wait_for(|count| *count == 0).await.is_ok()
            && matches!(timeout(RELOAD, spectators.wait_for(|count| *count > 0)).await, Ok(Ok(_)))
        {}
    }
}

async fn demo(live: Live, granted: Granted, opens: bool, stays: Stays) -> Result<Summary, CliError> {
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), "stopping: the running game is aborted")?;
    // The bots stop with the arena, or when all games are over.
    let bots = Shutdown { soon: shutdown.soon.child_token(), now: shutdown.now.clone() };
    let tournament = TournamentConfig {
        players: Some(BOTS.len()),
        pairing_interval: PAUSE / 5,
        pause: PAUSE,
        ..TournamentConfig::new(TOURNAMENT, &TIME.to_string()).map_err(usage)?
    };
    // Each demo begins anew.
    let database = Some(PathBuf::new().into());
    let web = page::Config { listen: ([127, 0, 0, 1], 0).into(), ..page::Config::default() };
    let config = Config { tournament: vec![tournament], web: Some(web), database, ..arena::loopback() };
    let arena = Arena::bind(config).await?;
    let page = arena.page().unwrap_or_default();
    let spectators = arena.spectators();
    print(|out| writeln!(out, "Watch the games at {page}"))?;
    if opens && let Err(error) = browser::open(&page) {
        warn!("cannot open a browser: {error}; open {page} yourself");
    }
    let tasks = TaskTracker::new();
    let (news, mut statuses) = mpsc::channel(NEWS);
    let (screen, to_screen) = mpsc::channel(NEWS);
    let thoughts = arena.thoughts();
    tasks.spawn(async move {
        while let Some(status) = statuses.recv().await {
            thought::show(&thoughts, &status);
            // A terminal that does not keep up misses some.
            let _ = screen.try_send(status);
        }
    });
    tasks.spawn(signals);
    tasks.spawn(live.show(to_screen)?);

    let mut servers = JoinSet::new();
    for (number, (name, kind, time_share)) in BOTS.into_iter().enumerate() {
        let (scheme, address) = match number {
            OVER_WEBSOCKET => ("ws", arena.bound().websocket),
            _ => ("tcp", arena.bound().tcp),
        };
        let config = arena::client(scheme, address, TOURNAMENT, name)?;
        let engine = engine::Config { kind, hash_mib: HASH_MIB, ..engine::Config::default() };
        let bot = bot::Config { time_share, ..bot::Config::default() };
        let context = BotContext::new(bot, EngineFactory::new(&engine)?.behind(granted), news.clone());
        let (lobby, bot) = Bot::channel(context);
        tasks.spawn(bot.run(bots.now.clone()));
        servers.spawn(contest::Contest::run(
            watch::channel(config).1,
            lobby,
            OrderQueue::default(),
            bots.clone(),
        ));
    }
    drop(news);

    let mut events = arena.news();
    let soon = bots.soon.clone();
    let stop = shutdown.soon.child_token();
    let over = stop.clone();
    tasks.spawn(async move {
        while let Ok(news) = events.recv().await {
            match &news.event {
                Event::Over(_) => {
                    // Otherwise the bots would try to reconnect to a tournament that has ended.
                    soon.cancel();
                    if let Some(spectators) = spectators {
                        over.run_until_cancelled(stays.wait(&page, spectators)).await;
                    }
                    return over.cancel();
                }
                event => info!("{}", arena::message(event)),
            }
        }
    });
    let summary = arena.run(stop).await;
    bots.soon.cancel();
    while let Some(ended) = servers.join_next().await {
        if let Err(refused) = ended? {
            error!("{refused}");
        }
    }
    leave(&shutdown, &tasks).await;
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test(start_paused = true)]
    async fn the_page_stays_as_long_as_it_is_asked_to() {
        let (count, spectators) = watch::channel(1);
        Stays::Never.wait("page", spectators.clone()).await;
        assert!(timeout(LONG, Stays::UntilStopped.wait("page", spectators.clone())).await.is_err());
        // Somebody loads the page anew, and leaves an hour later.
        let leaving = async {
            for (after, watching) in [(LONG, 0), (RELOAD / 2, 1), (LONG, 0)] {
                tokio::time::sleep(after).await;
                count.send_replace(watching);
            }
            tokio::time::Instant::now()
        };
        let staying = async {
            Stays::WhileWatched.wait("page", spectators.clone()).await;
            tokio::time::Instant::now()
        };
        let (left, ended) = tokio::join!(leaving, staying);
        assert_eq!(ended - left, RELOAD);
        // No browser is connected at the end.
        assert!(timeout(RELOAD / 2, Stays::WhileWatched.wait("page", spectators)).await.is_ok());
    }
}

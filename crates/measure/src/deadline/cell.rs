//! One cell: an arena in place of a server, and a bot that plays both sides of every game.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_arena as arena;
use zeitnot_arena::{Arena, Event, TournamentConfig};
use zeitnot_bot as bot;
use zeitnot_bot::{Answer, Bot, BotContext, network::Network};
use zeitnot_clients::{OrderQueue, Protocol, Shutdown, contest};
use zeitnot_engine as engine;
use zeitnot_engine::EngineFactory;
use zeitnot_measure::relay::{Framing, Link, Relay};

use super::{
    grid::{Cell, ROUND_TRIP, Under},
    measured::{Games, Measured},
};
use crate::{
    busy::Crowd,
    output::{Error, failed},
};

const TOURNAMENT: &str = "deadline";
/// Answers that may wait to be counted.
const ANSWERS: usize = 1 << 14;
/// Games of each pair: more than a cell can hold.
const UNLIMITED_GAMES: u32 = 1_000_000;
/// Pause between two games of a player.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for the games to end when a cell is over.
const GOODBYE: Duration = Duration::from_secs(5);

#[derive(Copy, Clone)]
struct Addresses {
    tcp: Option<SocketAddr>,
    websocket: Option<SocketAddr>,
}

impl Addresses {
    /// Opens relays in front, and puts their addresses in the place of these.
    async fn relay(&mut self, link: Link) -> io::Result<Vec<Relay>> {
        let mut relays = Vec::new();
        for (address, framing) in [(&mut self.tcp, Framing::Lines), (&mut self.websocket, Framing::Handshake)]
        {
            if let Some(address) = address {
                let relay = Relay::start(*address, framing, link).await?;
                *address = relay.address;
                relays.push(relay);
            }
        }
        Ok(relays)
    }
}

/// Plays for this long, or until this many games are over.
pub(super) fn play(cell: &Cell, length: Duration, total_games: Option<usize>) -> Result<Measured, Error> {
    let folder = tempfile::tempdir().map_err(failed("cannot make a folder for the games"))?;
    let crowd = match cell.under {
        Under::Overload => Crowd::start(2 * engine::cores().get()),
        Under::Idle | Under::Jitter | Under::Nagle => Crowd::start(0),
    };
    let _crowd = crowd.map_err(failed("cannot start busy processes"))?;

    let (opened, addresses) = oneshot::channel();
    let tournament = TournamentConfig {
        games_per_pair: UNLIMITED_GAMES,
        pairing_interval: PAUSE,
        pause: PAUSE,
        ..TournamentConfig::new(TOURNAMENT, &cell.time().to_string())?
    };
    let any_port = Some(([127, 0, 0, 1], 0).into());
    let config = arena::Config {
        tcp: any_port,
        websocket: any_port,
        games: folder.path().to_owned(),
        tournament: vec![tournament],
        ..arena::Config::default()
    };
    let under = cell.under;
    let arena = Network::start("arena", move |_| run_arena(config, under, length, total_games, opened))?;
    let Ok(addresses) = addresses.blocking_recv() else {
        return Err(arena.join().err().unwrap_or_else(|| "cannot start the arena".into()));
    };
    let done = CancellationToken::new();
    let bots = {
        let cell = *cell;
        let done = done.clone();
        Network::start("network", move |granted| async move {
            let config = engine::Config { kind: cell.thinker, ..engine::Config::default() };
            run_bots(&cell, EngineFactory::new(&config)?.behind(granted), addresses, done).await
        })?
    };
    let games = arena.join();
    done.cancel();
    let answers = bots.join();
    Ok(Measured::new(games?, answers?, cell.time()))
}

/// Runs the arena and counts its games.
async fn run_arena(
    config: arena::Config,
    under: Under,
    length: Duration,
    total_games: Option<usize>,
    opened: oneshot::Sender<Addresses>,
) -> Result<Games, Error> {
    let arena = Arena::bind(config).await?;
    let mut news = arena.news();
    let mut addresses = Addresses { tcp: arena.bound().tcp, websocket: arena.bound().websocket };
    let link = match under {
        Under::Idle | Under::Overload => None,
        Under::Jitter => Some(Link::Delayed(ROUND_TRIP)),
        Under::Nagle => Some(Link::Nagle),
    };
    let _relays = match link {
        Some(link) => addresses.relay(link).await.map_err(failed("cannot start a relay"))?,
        None => Vec::new(),
    };
    let _ = opened.send(addresses);
    let stop = CancellationToken::new();
    let running = tokio::spawn(arena.run(stop.clone()));
    let mut games = Games::default();
    let _ = timeout(length, count(&mut news, total_games.unwrap_or(usize::MAX), &mut games)).await;
    stop.cancel();
    running.await?;
    Ok(games)
}

async fn count(news: &mut broadcast::Receiver<arena::News>, total: usize, games: &mut Games) {
    while games.over < total {
        match news.recv().await {
            Ok(arena::News { event: Event::GameEnded { result: Some(_), reason, .. }, .. }) => {
                games.over += 1;
                games.forfeits += usize::from(reason == "Out of time");
            }
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Runs two players for each game, half of them over WebSocket.
async fn run_bots(
    cell: &Cell,
    factory: EngineFactory,
    addresses: Addresses,
    done: CancellationToken,
) -> Result<Vec<Answer>, Error> {
    let players = 2 * cell.games;
    let (tell, mut told) = mpsc::channel(ANSWERS);
    let (news, _nobody_watches) = mpsc::channel(1);
    let config = bot::Config { max_games: players, ..bot::Config::default() };
    let mut context = BotContext::new(config, factory, news);
    context.answers = Some(tell);
    let (lobby, bot) = Bot::channel(context);

    let tasks = TaskTracker::new();
    let shutdown = Shutdown::default();
    tasks.spawn(bot.run(shutdown.now.clone()));
    let mut clients = JoinSet::new();
    for number in 0..players {
        let (scheme, address) = match number % 2 {
            0 => ("tcp", addresses.tcp),
            _ => ("ws", addresses.websocket),
        };
        let address = address.map_or_else(String::new, |address| format!("{scheme}://{address}"));
        let player = format!("player-{number}").try_into()?;
        let config = contest::Config::new(address.parse()?, TOURNAMENT.to_owned().try_into()?, player);
        clients.spawn(contest::Contest::run(
            watch::channel(config).1,
            lobby.clone(),
            OrderQueue::default(),
            shutdown.clone(),
        ));
    }
    drop(lobby);

    let mut answers = Vec::new();
    let collecting = async {
        while let Some(answer) = told.recv().await {
            answers.push(answer);
        }
    };
    done.run_until_cancelled(collecting).await;
    shutdown.now.cancel();
    tasks.close();
    // A search that hangs does not end.
    let _ = timeout(GOODBYE, tasks.wait()).await;
    while let Some(ended) = clients.join_next().await {
        ended??;
    }
    Ok(answers)
}

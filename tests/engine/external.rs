//! Stockfish through our bot: whole games on an arena, also when it is killed amid them.

use std::{collections::BTreeMap, fs};

use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;
use zeitnot_arena::Event;
use zeitnot_bot as bot;
use zeitnot_bot::{Bot, BotContext};
use zeitnot_clients::{OrderQueue, Protocol, Shutdown, contest::Contest};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind};
use zeitnot_external as external;
use zeitnot_testing::{LONG, has_engine, send_signal, soon, until};

use crate::support::{
    arena::{By, TestArena},
    contest_server::entry,
};

const STOCKFISH: &str = "/usr/games/stockfish";

fn stockfish() -> EngineFactory {
    let config = external::Config::new(STOCKFISH);
    external::Program::open("stockfish", &config).unwrap().program.factory().unwrap()
}

/// Process ids of our children of this name.
fn children(name: &str) -> Vec<String> {
    let here = std::process::id().to_string();
    let is_ours = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        stat.contains(&format!("({name})"))
            && fields.next() != Some("Z")
            && fields.next() == Some(here.as_str())
    };
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    stats.filter(is_ours).filter_map(|stat| Some(stat.split_whitespace().next()?.to_owned())).collect()
}

/// Starts a bot with this engine for chess, and returns its news.
fn enter(
    arena: &TestArena,
    player: &str,
    factory: EngineFactory,
    tasks: &TaskTracker,
    shutdown: &Shutdown,
) -> mpsc::Receiver<bot::GameStatus> {
    let random = engine::Config { kind: Kind::Random, ..Default::default() };
    let config: bot::Config = toml::from_str("[[choose]]\nengine = 'it'\ngames = ['chess']\n").unwrap();
    let (tell, news) = mpsc::channel(64);
    let mut context = BotContext::new(config, EngineFactory::new(&random).unwrap(), tell);
    context.set_engines(&BTreeMap::from([("it".to_owned(), factory)]));
    let (lobby, bot) = Bot::channel(context);
    tasks.spawn(bot.run(shutdown.now.clone()));
    let config = watch::channel(entry(&arena.url(By::Tcp), player)).1;
    let client = Contest::run(config, lobby, OrderQueue::default(), shutdown.clone());
    tasks.spawn(async move { client.await.unwrap() });
    news
}

/// Plays Stockfish against a random mover and kills it this often, from its first moves on, as it may mate in ten.
/// Returns the result and its reason.
async fn game(kills: usize) -> (String, String) {
    let settings = "time = '8+0.1'\nplayers = 2\ngames_per_pair = 1\npairing_interval = '50ms'";
    let mut arena = TestArena::start(settings).await;
    let tasks = TaskTracker::new();
    let shutdown = Shutdown::default();
    let theirs = stockfish();
    let random = EngineFactory::new(&engine::Config { kind: Kind::Random, ..Default::default() }).unwrap();
    let mut moves = enter(&arena, "stockfish", theirs.clone(), &tasks, &shutdown);
    let _unread = enter(&arena, "random", random, &tasks, &shutdown);
    let mut killed = 0;
    let end = loop {
        tokio::select! {
            told = arena.news.recv() => if let Event::GameEnded { result, reason, .. } = told.unwrap().event {
                break (format!("{result:?}"), reason);
            },
            Some(now) = moves.recv() => if killed < kills && now.ply > 2 * (killed + 1) {
                for id in children("stockfish") {
                    send_signal("KILL", &id);
                    killed += 1;
                }
            },
        }
    };
    // A game against random moves may end before the last one.
    assert!(kills == 0 || killed > 0, "none of {kills} killed");
    shutdown.now.cancel();
    arena.stop().await;
    tasks.close();
    soon("the end of all players", tasks.wait()).await;
    theirs.close();
    until("no engine is left behind", async || children("stockfish").is_empty()).await;
    end
}

/// One game after the other, as all children of that name are killed.
#[test(limit = LONG, workers = 2)]
async fn stockfish_mates_even_if_it_is_killed_amid_the_game() {
    if !has_engine(STOCKFISH) {
        return;
    }
    for kills in [0, 2] {
        let (result, reason) = soon("it ends", game(kills)).await;
        assert!(reason.to_lowercase().contains("mate"), "{kills} kills: {result}, {reason}");
    }
}

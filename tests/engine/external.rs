//! Stockfish through our bot: a whole game on an arena, also when it is killed in the middle of it; and which
//! engine plays which game.

use std::{collections::BTreeMap, fs, process::Command, time::Duration};

use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena as arena;
use zeitnot_arena::{Arena, Event, Name, TournamentConfig};
use zeitnot_bot as bot;
use zeitnot_bot::{Bot, BotContext};
use zeitnot_clients::{Protocol, Shutdown, contest};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind, external};

use crate::support::{
    installed::has_engine,
    wait::{soon, until},
};

const STOCKFISH: &str = "/usr/games/stockfish";

fn stockfish() -> EngineFactory {
    let config = external::Config::new(STOCKFISH);
    EngineFactory::external(external::Program::open("stockfish", &config).unwrap().program).unwrap()
}

/// Which of our children are called so.
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

/// A bot with this engine for chess, on this server.
fn enter(
    arena: &Arena,
    player: &str,
    factory: EngineFactory,
    tasks: &TaskTracker,
    shutdown: &Shutdown,
    servers: &mut JoinSet<Result<(), zeitnot_clients::ProtocolError>>,
) -> mpsc::Receiver<bot::GameStatus> {
    let random = engine::Config { kind: Kind::Random, ..Default::default() };
    let rule = "[[choose]]\nengine = 'it'\ngames = ['chess']\n";
    let config: bot::Config = toml::from_str(rule).unwrap();
    let (tell, news) = mpsc::channel(64);
    let mut context = BotContext::new(config, EngineFactory::new(&random).unwrap(), tell);
    context.set_engines(&BTreeMap::from([("it".to_owned(), factory)]));
    let (lobby, bot) = Bot::channel(context);
    tasks.spawn(bot.run(shutdown.now.clone()));
    let address = format!("tcp://{}", arena.tcp().unwrap()).parse().unwrap();
    let (tournament, player) = ("duel".to_owned().try_into().unwrap(), player.to_owned().try_into().unwrap());
    let config = contest::Config::new(address, tournament, player);
    servers.spawn(contest::Contest::run(config, lobby, shutdown.clone()));
    news
}

/// Stockfish plays a random mover; it is killed so often, from its first moves on, as it may mate in ten. Who won,
/// and why?
async fn game(kills: usize) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let tournament = TournamentConfig {
        players: Some(2),
        games_per_pair: 1,
        pairing_interval: Duration::from_millis(50),
        ..TournamentConfig::new(Name::try_from("duel").unwrap(), "8+0.1".parse().unwrap())
    };
    let arena = Arena::bind(arena::Config {
        tcp: Some(([127, 0, 0, 1], 0).into()),
        games: folder.path().to_owned(),
        tournament: vec![tournament],
        ..arena::Config::default()
    })
    .await
    .unwrap();
    let (tasks, shutdown, mut servers) = (TaskTracker::new(), Shutdown::default(), JoinSet::new());
    let theirs = stockfish();
    let random = EngineFactory::new(&engine::Config { kind: Kind::Random, ..Default::default() }).unwrap();
    let mut moves = enter(&arena, "stockfish", theirs.clone(), &tasks, &shutdown, &mut servers);
    let _nobody_watches = enter(&arena, "random", random, &tasks, &shutdown, &mut servers);

    let mut news = arena.news();
    let stop = CancellationToken::new();
    let running = tokio::spawn(arena.run(stop.clone()));
    let mut killed = 0;
    let end = loop {
        tokio::select! {
            told = news.recv() => if let Event::GameEnded { result, reason, .. } = told.unwrap().event {
                break (format!("{result:?}"), reason);
            },
            Some(now) = moves.recv() => if killed < kills && now.ply > 2 * (killed + 1) {
                for id in children("stockfish") {
                    assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
                    killed += 1;
                }
            },
        }
    };
    assert!(killed >= kills, "{killed} of {kills} killed");
    shutdown.now.cancel();
    stop.cancel();
    while let Some(ended) = servers.join_next().await {
        ended.unwrap().unwrap();
    }
    running.await.unwrap();
    tasks.close();
    soon("a player is still there", tasks.wait()).await;
    theirs.close();
    until("no engine is left behind", async || children("stockfish").is_empty()).await;
    end
}

/// One after the other: what is killed belongs to one game.
#[tokio::test(flavor = "multi_thread")]
async fn stockfish_mates_also_when_it_is_killed_in_the_middle_of_the_game() {
    if !has_engine(STOCKFISH) {
        return;
    }
    for kills in [0, 2] {
        let (result, reason) = soon("it ends", game(kills)).await;
        assert!(reason.to_lowercase().contains("mate"), "{kills} kills: {result}, {reason}");
    }
}

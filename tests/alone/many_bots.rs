//! Sixteen bots on one arena, half of them over TCP and half over WebSocket, all eight games at once.

use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_util::task::TaskTracker;
use zeitnot_arena::Event;
use zeitnot_bot as bot;
use zeitnot_bot::{Bot, BotContext};
use zeitnot_clients::{OrderQueue, Protocol, Shutdown, contest::Contest};
use zeitnot_engine as engine;
use zeitnot_engine::EngineFactory;
use zeitnot_testing::{LONG, soon, until};

use crate::support::{
    arena::{By, TestArena},
    contest_server::entry,
};

const BOTS: usize = 16;

/// Plays until `games` games are over, and returns the reasons of their ends.
async fn play(time: &str, games: usize) -> Vec<String> {
    let settings = format!(
        "time = '{time}'\nplayers = {BOTS}\ngames_per_pair = 1\npairing_interval = '100ms'\npause = '100ms'"
    );
    let mut arena = TestArena::start(&settings).await;
    let tasks = TaskTracker::new();
    let shutdown = Shutdown::default();
    let mut clients = JoinSet::new();
    // One factory: all players share a table, as the games of one bot do.
    let config = engine::Config { hash_mib: 16.try_into().unwrap(), ..Default::default() };
    let factory = EngineFactory::new(&config).unwrap();
    for number in 0..BOTS {
        let (lobby, bot) =
            Bot::channel(BotContext::new(bot::Config::default(), factory.clone(), mpsc::channel(1).0));
        tasks.spawn(bot.run(shutdown.now.clone()));
        let url = arena.url(if number % 2 == 0 { By::Tcp } else { By::WebSocket });
        clients.spawn(Contest::run(
            watch::channel(entry(&url, &format!("bot-{number}"))).1,
            lobby,
            OrderQueue::default(),
            shutdown.clone(),
        ));
    }
    let mut at_once = 0_usize;
    let mut most = 0;
    let mut ends = Vec::new();
    while ends.len() < games {
        match arena.news.recv().await.unwrap().event {
            Event::GameStarted { .. } => {
                at_once += 1;
                most = most.max(at_once);
            }
            Event::GameEnded { reason, .. } => {
                at_once -= 1;
                ends.push(reason);
            }
            _ => {}
        }
    }
    assert_eq!(most, BOTS / 2, "all bots play at once");
    shutdown.now.cancel();
    while let Some(ended) = clients.join_next().await {
        ended.unwrap().unwrap();
    }
    arena.stop().await;
    tasks.close();
    soon("the end of all players", tasks.wait()).await;
    ends
}

/// Plays without a loss on time, and leaves no task behind.
async fn play_well(time: &str, games: usize) {
    let before = Handle::current().metrics().num_alive_tasks();
    let ends = play(time, games).await;
    until("no task is left", async || Handle::current().metrics().num_alive_tasks() <= before).await;
    assert!(!ends.iter().any(|reason| reason.contains("time")), "{ends:?}");
}

#[test(limit = LONG, workers = 2)]
async fn eight_games_at_once_lose_none_on_time() {
    play_well("1+0.05", 8).await;
}

/// The whole round at the time control that we promise.
#[test(limit = zeitnot_testing::SOAK, workers = 2)]
#[ignore = "soak: three minutes"]
async fn sixty_four_games_at_five_seconds_lose_none_on_time() {
    play_well("5+0.05", 64).await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("peak memory: {}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown"));
}

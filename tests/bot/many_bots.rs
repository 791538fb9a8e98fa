//! Sixteen bots on one arena, half of them over TCP and half over WebSocket, all eight games at once:
//! no flag falls, and when it is over no task is left.

use std::time::Duration;

use tokio::{runtime::Handle, sync::mpsc, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena as arena;
use zeitnot_arena::{Arena, Event, Name, TournamentConfig};
use zeitnot_bot as bot;
use zeitnot_bot::{Bot, BotContext};
use zeitnot_clients::{Protocol, Shutdown, contest};
use zeitnot_engine as engine;
use zeitnot_engine::EngineFactory;
use zeitnot_rules::TimeControl;

use crate::support::wait::{soon, until};

const BOTS: usize = 16;

/// Plays until `games` games are over, and tells the reasons of their ends.
async fn play(time: TimeControl, games: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let loopback = Some(([127, 0, 0, 1], 0).into());
    let tournament = TournamentConfig {
        players: Some(BOTS),
        games_per_pair: 1,
        pairing_interval: Duration::from_millis(100),
        pause: Duration::from_millis(100),
        ..TournamentConfig::new(Name::try_from("many").unwrap(), time)
    };
    let arena = Arena::bind(arena::Config {
        tcp: loopback,
        websocket: loopback,
        games: folder.path().to_owned(),
        tournament: vec![tournament],
        ..arena::Config::default()
    })
    .await
    .unwrap();

    let tasks = TaskTracker::new();
    let shutdown = Shutdown::default();
    let mut servers = JoinSet::new();
    // One factory: all players share a table, as the games of one bot do.
    let factory =
        EngineFactory::new(&engine::Config { hash_mib: 16.try_into().unwrap(), ..Default::default() })
            .unwrap();
    for number in 0..BOTS {
        let address = match number % 2 {
            0 => format!("tcp://{}", arena.tcp().unwrap()),
            _ => format!("ws://{}", arena.websocket().unwrap()),
        };
        let (news, _nobody_watches) = mpsc::channel(1);
        let (lobby, bot) = Bot::channel(BotContext::new(bot::Config::default(), factory.clone(), news));
        tasks.spawn(bot.run(shutdown.now.clone()));
        let player = format!("bot-{number}").try_into().unwrap();
        let config =
            contest::Config::new(address.parse().unwrap(), "many".to_owned().try_into().unwrap(), player);
        servers.spawn(contest::Contest::run(config, lobby, shutdown.clone()));
    }

    let mut news = arena.news();
    let stop = CancellationToken::new();
    let running = tokio::spawn(arena.run(stop.clone()));
    let (mut at_once, mut most, mut ends) = (0_usize, 0, Vec::new());
    while ends.len() < games {
        match news.recv().await.unwrap().event {
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
    stop.cancel();
    while let Some(ended) = servers.join_next().await {
        ended.unwrap().unwrap();
    }
    running.await.unwrap();
    tasks.close();
    soon("no player is left", tasks.wait()).await;
    ends
}

async fn play_and_leave_nothing(time: &str, games: usize) -> Vec<String> {
    let before = Handle::current().metrics().num_alive_tasks();
    let ends = play(time.parse().unwrap(), games).await;
    until("no task is left", async || Handle::current().metrics().num_alive_tasks() <= before).await;
    ends
}

fn assert_no_forfeit(ends: &[String]) {
    let fell = ends.iter().filter(|reason| reason.contains("time")).count();
    assert_eq!(fell, 0, "{ends:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_games_at_once() {
    assert_no_forfeit(&play_and_leave_nothing("1+0.05", 16).await);
}

/// The whole round at the time control that we promise: run it with `--release -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: three minutes"]
async fn sixty_four_games_at_five_seconds() {
    let ends = play_and_leave_nothing("5+0.05", 64).await;
    assert_no_forfeit(&ends);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned();
    println!("{} games, peak memory of arena and {BOTS} bots: {memory}", ends.len());
}

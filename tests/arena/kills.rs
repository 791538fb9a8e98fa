//! An arena that is killed at any moment and started again, until its tournament is complete: what was told is kept, no
//! game counts twice, and nobody forfeits.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    process::{Child, Command},
    select,
    task::JoinSet,
    time::{sleep, timeout},
};
use zeitnot_net::Address;

use crate::support::{
    arena::{Player, record_files, tags, word},
    command::zeitnot,
    wait::{LONG, soon},
};

/// Moves of every game: White is mated.
const MOVES: [&str; 4] = ["f2-f3", "e7-e5", "g2-g4", "d8-h4"];
/// Longest time for a move.
const THINKS: Duration = Duration::from_millis(20);
/// Longest life of an arena.
const LIVES: Duration = Duration::from_millis(300);

/// Results that players were told, by game.
type Told = Arc<Mutex<BTreeMap<String, String>>>;

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn random(longest: Duration) -> Duration {
    longest.mul_f64(fastrand::f64())
}

/// Plays until the tournament is over, over as many connections as it takes.
async fn play(address: Address, name: String, told: Told) {
    loop {
        let Ok(Ok((reader, writer))) = timeout(LONG, address.connect(LONG)).await else {
            sleep(THINKS / 4).await;
            continue;
        };
        let mut player = Player { name: name.clone(), reader, writer };
        if player.writer.send(&format!("JOIN class {name}")).await.is_err() {
            continue;
        }
        let mut ply = 0;
        while let Some(line) = player.next().await {
            let answer = match word(&line, 0) {
                "GAME_PAIRED" => format!("ACK {}", word(&line, 1)),
                "GAME_STARTED" => {
                    ply = 0;
                    continue;
                }
                "PLAYER_MOVED" => {
                    ply += 1;
                    continue;
                }
                "YOUR_MOVE" => {
                    sleep(random(THINKS)).await;
                    format!("MOVE {} {}", word(&line, 1), MOVES[ply])
                }
                "GAME_OVER" => {
                    let (game, result) = (word(&line, 1).to_owned(), word(&line, 2).to_owned());
                    let before = told.lock().unwrap().insert(game, result.clone());
                    assert!(before.is_none_or(|before| before == result));
                    continue;
                }
                _ if line.contains("class is over") => return,
                _ => continue,
            };
            if player.writer.send(&answer).await.is_err() {
                break;
            }
        }
    }
}

fn start(config: &Path) -> Child {
    let mut command = Command::from(zeitnot(&["arena", "--config"]));
    let quiet = command.arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.kill_on_drop(true).spawn().unwrap()
}

/// Results that the database has, of games of each pair.
async fn stored(config: &Path) -> Value {
    let mut command = Command::from(zeitnot(&["arena", "results", "class", "--json", "--config"]));
    let output = command.arg(config).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'v>(game: &'v Value, key: &str) -> &'v str {
    game[key].as_str().unwrap_or_default()
}

/// A tournament of so many players, who meet each other so often, while the arena is killed so often, if it lasts. Returns
/// how often it was started.
async fn kill(players: usize, games_per_pair: usize, kills: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (tcp, websocket) = (free_port(), free_port());
    let config = folder.path().join("config.toml");
    let table = format!(
        "[arena]\ntcp = '{tcp}'\nwebsocket = '{websocket}'\ngames = '{}/games'\n\
         [[arena.tournament]]\nname = 'class'\ntime = '60+0'\nplayers = {players}\ngames_per_pair = {games_per_pair}\n\
         pairing_interval = '10ms'\npause = '0ms'\n",
        folder.path().display()
    );
    fs::write(&config, table).unwrap();

    let told = Told::default();
    let mut bots = JoinSet::new();
    for number in 0..players {
        let address = if number % 2 == 0 { format!("tcp://{tcp}") } else { format!("ws://{websocket}") };
        bots.spawn(play(address.parse().unwrap(), format!("bot{number}"), told.clone()));
    }
    let (mut left, mut lives) = (kills, 0);
    let games_before = || told.lock().unwrap().len();
    let end = async {
        loop {
            let mut arena = start(&config);
            lives += 1;
            select! {
                status = arena.wait() => break status.unwrap(),
                // The first results show that it has begun.
                () = async {
                    while games_before() == 0 {
                        sleep(THINKS / 4).await;
                    }
                    sleep(random(LIVES)).await;
                }, if left > 0 => {
                    left -= 1;
                    arena.kill().await.unwrap();
                }
            }
        }
    };
    let status = soon("the tournament is complete", end).await;
    assert!(status.success(), "{status}");
    drop(bots);

    let results = stored(&config).await;
    let games = results["pairings"].as_array().unwrap();
    let by_id: BTreeMap<_, _> = games.iter().map(|game| (text(game, "game"), game)).collect();
    assert_eq!(by_id.len(), games.len());
    let told = told.lock().unwrap();
    for (game, result) in &*told {
        assert_eq!(text(by_id[game.as_str()], "result"), result, "{game} was told as {result}");
    }
    let (over, broken_off): (Vec<_>, Vec<_>) = games.iter().partition(|game| text(game, "result") != "*");
    let mut met: BTreeMap<BTreeSet<&str>, usize> = BTreeMap::new();
    for game in &over {
        assert_eq!((text(game, "result"), text(game, "termination")), ("0-1", "normal"), "{game}");
        *met.entry([text(game, "white"), text(game, "black")].into()).or_default() += 1;
    }
    assert_eq!(met.len(), players * (players - 1) / 2);
    assert!(met.values().all(|games| *games == games_per_pair), "{met:?}");
    assert!(broken_off.iter().all(|game| text(game, "termination") == "unterminated"), "{broken_off:?}");
    let repeated: BTreeSet<_> = games.iter().map(|game| text(game, "repeats")).collect();
    assert!(broken_off.iter().all(|game| repeated.contains(text(game, "game"))), "every one is repeated");
    let rows = results["players"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["forfeits"] == 0), "{rows:?}");
    assert_eq!(rows.iter().map(|row| row["score"].as_f64().unwrap()).sum::<f64>(), over.len() as f64);

    // Each game is in one of the files, once; only the last of them may be missing with the last kill.
    let files: String = record_files(folder.path()).map(|file| fs::read_to_string(file).unwrap()).collect();
    let written = tags(&files, "GameId");
    let once: BTreeSet<_> = written.iter().copied().collect();
    assert_eq!((written.len(), once.len()), (games.len(), games.len()));
    println!(
        "{lives} lives: {} games over, {} of them told, {} broken off",
        over.len(),
        told.len(),
        broken_off.len()
    );
    lives
}

#[tokio::test(flavor = "multi_thread")]
async fn an_arena_that_is_killed_loses_nothing_that_was_told() {
    kill(3, 4, 4).await;
}

/// `cargo test --test main -- --ignored --nocapture fifty_kills`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: a minute"]
async fn fifty_kills() {
    assert_eq!(kill(8, 20, 50).await, 51);
}

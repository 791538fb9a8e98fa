//! A Lichess arena that goes away in the middle of eight games and comes back: they go on where they were, however
//! it went.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    task::JoinHandle,
    time::sleep,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena::{Arena, Config, Summary};
use zeitnot_bot as bot;
use zeitnot_bot::policy::Draw;
use zeitnot_clients::{
    Protocol, Shutdown,
    lichess::{self, Lichess},
};
use zeitnot_engine::Kind;

use crate::support::{
    bot::lobby,
    command::zeitnot,
    lichess_arena::{self, Bot},
    wait::{soon, until},
};

const GAMES: usize = 8;

/// A port that is free now; the server is to have the same one twice.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The arena's configuration.
fn table(address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "games = '{folder}/games'\n[lichess]\nlisten = '{address}'\nstate = '{folder}/state'\nadmin_token = 'admin'\n\
         account = [{{ name = 'Alice', token = 'lip_alice' }}, {{ name = 'Bob', token = 'lip_bob' }}]\n"
    )
}

/// One life of the server.
enum Server {
    Inside(CancellationToken, JoinHandle<Summary>),
    Outside(Child),
}

impl Server {
    async fn inside(address: SocketAddr, folder: &Path) -> Server {
        let config: Config = toml::from_str(&table(address, folder)).unwrap();
        let arena = Arena::bind(config).await.unwrap();
        let stop = CancellationToken::new();
        Server::Inside(stop.clone(), tokio::spawn(arena.run(stop)))
    }

    async fn outside(address: SocketAddr, folder: &Path) -> Server {
        let text = format!("[arena]\n{}", table(address, folder).replace("[lichess", "[arena.lichess"));
        fs::write(folder.join("config.toml"), text).unwrap();
        let program = Command::from(zeitnot(&["arena", "--config"]))
            .arg(folder.join("config.toml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        until("the arena listens", async || TcpStream::connect(address).await.is_ok()).await;
        Server::Outside(program)
    }

    /// `SIGKILL` for a program, an orderly stop for an arena in this one.
    async fn end(self) {
        match self {
            Server::Inside(stop, running) => {
                stop.cancel();
                running.await.unwrap();
            }
            Server::Outside(mut program) => {
                program.kill().await.unwrap();
            }
        }
    }
}

/// A bot of ours that accepts what comes. It takes its time for each move, so that no game is over too soon, and
/// agrees on a draw at move thirty, so that none takes too long.
fn start_bot(address: SocketAddr, name: &str, shutdown: &Shutdown, tasks: &TaskTracker) -> JoinHandle<()> {
    let text = format!(
        "url = 'http://{address}'\ntoken = 'lip_{name}'\nconcurrency = 8\n\
         [timeouts]\nreconnect = {{ min_delay = '50ms', max_delay = '300ms', stable_after = '10s' }}"
    );
    let config: lichess::Config = toml::from_str(&text).unwrap();
    let settings = bot::Config {
        max_games: GAMES,
        max_move_time: Duration::from_millis(80),
        draw: Draw { score: u16::MAX, moves: 1, min_game_length: 30, max_pieces: 32 },
        ..Default::default()
    };
    let lobby = lobby(Kind::Search, settings, &shutdown.now, tasks);
    let run = Lichess::run(config, lobby, shutdown.clone());
    tokio::spawn(async move { run.await.unwrap() })
}

/// The moves of a game, as its stream tells them.
async fn moves(bot: &Bot, game: &str) -> String {
    let full = bot.watch(game).await.expect("gameFull").await;
    full["state"]["moves"].as_str().unwrap().to_owned()
}

async fn playing(bot: &Bot) -> Vec<Value> {
    bot.get("/api/account/playing?nb=50").await.1["nowPlaying"].as_array().unwrap().clone()
}

async fn running(bot: &Bot) -> usize {
    playing(bot).await.len()
}

/// Running games in which both have moved.
async fn moved(bot: &Bot) -> usize {
    let both = |game: &&Value| {
        game["hasMoved"] == true && game["fen"].as_str().is_some_and(|fen| !fen.ends_with(" 1"))
    };
    playing(bot).await.iter().filter(both).count()
}

/// Eight games, the server's end amid them, and its return.
async fn restart_amid_games(is_inside: bool) {
    let (folder, address) = (tempfile::tempdir().unwrap(), free_port());
    let start = async || match is_inside {
        true => Server::inside(address, folder.path()).await,
        false => Server::outside(address, folder.path()).await,
    };
    let server = start().await;
    let (shutdown, tasks) = (Shutdown::default(), TaskTracker::new());
    let bots = ["alice", "bob"].map(|name| start_bot(address, name, &shutdown, &tasks));
    // What the test asks for, it asks for under another name than alice's own program.
    let alice = Bot { address: address.to_string(), token: "lip_alice".into(), agent: "test".into() };
    let mut games = Vec::new();
    for _ in 0..GAMES {
        let (status, challenge) =
            alice.post("/api/challenge/bob", "rated=true&clock.limit=60&clock.increment=1").await;
        assert_eq!(status, 200, "{challenge}");
        games.push(challenge["id"].as_str().unwrap().to_owned());
    }
    // A challenge that nobody answers, as the one whom it is for is not there.
    let admin = Bot { token: "admin".into(), ..alice.clone() };
    let (_, made) = admin.post("/api/zeitnot/account", "name=Carol").await;
    let (_, waiting) = alice.post("/api/challenge/carol", "days=3").await;

    until("the games get going", async || moved(&alice).await == GAMES).await;
    let before = join_all(games.iter().map(|game| moves(&alice, game))).await;
    // A kill may cost what was played within the last moments; what was seen before that it may not.
    sleep(Duration::from_millis(200)).await;
    assert_eq!(running(&alice).await, GAMES, "all games run when the server ends");
    server.end().await;
    sleep(Duration::from_millis(500)).await;
    let server = start().await;

    assert_eq!(alice.get("/api/challenge").await.1["out"][0]["id"], waiting["id"]);
    let carol = Bot { token: made["token"].as_str().unwrap().into(), ..alice.clone() };
    assert_eq!(carol.get("/api/account").await.1["id"], "carol", "an account that was made is kept");
    until("the games end", async || running(&alice).await == 0).await;
    for (game, before) in games.iter().zip(&before) {
        let after = alice.watch(game).await.expect("gameFull").await;
        let (moves, status) = (after["state"]["moves"].as_str().unwrap(), &after["state"]["status"]);
        assert!(moves.starts_with(before.as_str()), "{game}: {moves} does not go on from {before}");
        assert!(
            [json!("mate"), json!("stalemate"), json!("draw")].contains(status),
            "{game} ended with {status}: {moves}"
        );
    }
    shutdown.now.cancel();
    for bot in bots {
        soon("a bot ends", bot).await.unwrap();
    }
    tasks.close();
    soon("the players end", tasks.wait()).await;
    // Until a record is written, a kill may still take back the end of its game.
    let written = |game: &String| records(&folder).matches(&format!("[GameId \"{game}\"]")).count();
    until("every game is written", async || games.iter().all(|game| written(game) > 0)).await;
    server.end().await;
    for game in &games {
        assert_eq!(written(game), 1, "{game} is written once");
    }
}

fn records(folder: &TempDir) -> String {
    let files = fs::read_dir(folder.path().join("games")).unwrap();
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_amid_eight_games() {
    restart_amid_games(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_amid_eight_games() {
    restart_amid_games(false).await;
}

fn both(address: SocketAddr) -> [Bot; 2] {
    ["alice", "bob"].map(|name| Bot {
        address: address.to_string(),
        token: format!("lip_{name}"),
        agent: name.into(),
    })
}

/// The outage is on nobody's clock: both wait until their player is back.
#[tokio::test]
async fn clocks_stand_while_nobody_can_play() {
    let (folder, address) = (tempfile::tempdir().unwrap(), free_port());
    let [alice, bob] = both(address);
    let server = Server::inside(address, folder.path()).await;
    let form = "color=white&clock.limit=30&clock.increment=0";
    let game = alice.post("/api/challenge/bob", form).await.1["id"].as_str().unwrap().to_owned();
    bob.ok(&format!("/api/challenge/{game}/accept")).await;
    lichess_arena::play(&alice, &bob, &game, "e2e4 e7e5").await;
    alice.ok(&format!("/api/bot/game/{game}/draw/yes")).await;
    alice.post(&format!("/api/bot/game/{game}/chat"), "room=player&text=hello").await;
    assert_eq!(alice.text("DELETE", "/api/token", "", "").await.0, 204);
    server.end().await;
    sleep(Duration::from_millis(1500)).await;
    let server = Server::inside(address, folder.path()).await;
    assert_eq!(alice.get("/api/account").await.0, 401, "a token that was revoked stays so");
    let mut board = bob.watch(&game).await;
    let full = board.expect("gameFull").await;
    assert_eq!((&full["state"]["moves"], &full["state"]["wdraw"]), (&json!("e2e4 e7e5"), &json!(true)));
    let (_, chat) = bob.get(&format!("/api/bot/game/{game}/chat")).await;
    assert_eq!(chat.as_array().unwrap().last().unwrap()["text"], "hello");
    sleep(Duration::from_millis(700)).await;
    let left = bob.watch(&game).await.expect("gameFull").await["state"]["wtime"].as_u64().unwrap();
    assert!(left > 28_200, "White is not back, and the clock stands: {left}");
    server.end().await;
}

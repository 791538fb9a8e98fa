//! A Lichess arena that ends amid games and comes back: they go on where they were, whatever ended it.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::Path,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{self, sleep},
};
use zeitnot_bot as bot;
use zeitnot_bot::policy::Draw;
use zeitnot_clients::lichess::Lichess;
use zeitnot_engine::Kind;
use zeitnot_testing::until;

use crate::support::{
    arena::{TestArena, records},
    client::Client,
    lichess_arena::{self, Bot, has},
    lichess_client::{self, PATIENT},
    program::Program,
};

const GAMES: usize = 8;

/// A free port, which the server uses twice.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The arena's configuration.
fn table(address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "games = '{folder}/games'\n[lichess]\nlisten = '{address}'\nadmin_token = 'admin'\nchallenge_life = '1h'\n\
         account = [{{ name = 'Alice', token = 'lip_alice' }}, {{ name = 'Bob', token = 'lip_bob' }}]\n"
    )
}

/// One life of the server.
enum Server {
    Inside(TestArena),
    Outside(Program),
}

impl Server {
    async fn inside(address: SocketAddr, folder: &Path) -> Server {
        // The folder of the arena stays empty: the configuration names another, which outlives it.
        Server::Inside(TestArena::open(tempfile::tempdir().unwrap(), &table(address, folder)).await)
    }

    async fn outside(address: SocketAddr, folder: &Path) -> Server {
        let text = format!("[arena]\n{}", table(address, folder).replace("[lichess", "[arena.lichess"));
        let program = Program::arena(folder, &text);
        until("the arena listens", async || TcpStream::connect(address).await.is_ok()).await;
        Server::Outside(program)
    }

    /// `SIGKILL` for a program, an orderly stop for an arena in this one.
    async fn end(self) {
        match self {
            Server::Inside(arena) => drop(arena.stop().await),
            Server::Outside(program) => program.kill().await,
        }
    }
}

/// Starts a bot that accepts all challenges. It takes its time for each move, so that no game is over too soon, and
/// agrees on a draw at move thirty, so that none takes too long.
fn start_bot(address: SocketAddr, name: &str) -> Client {
    let settings = bot::Config {
        max_games: GAMES,
        max_move_time: Duration::from_millis(80),
        draw: Draw { score: u16::MAX, moves: 1, min_game_length: 30, ..Draw::default() },
        ..Default::default()
    };
    let concurrency = format!("concurrency = 8\n{PATIENT}");
    let config = lichess_client::config(&format!("http://{address}"), &format!("lip_{name}"), &concurrency);
    Client::with_bot::<Lichess>(config, Kind::Search, settings)
}

/// The moves of a game, as its stream tells them.
async fn moves(bot: &Bot, game: &str) -> String {
    let full = bot.watch(game).await.expect("gameFull").await;
    full["state"]["moves"].as_str().unwrap().to_owned()
}

/// Running games in which both have moved.
async fn moved(bot: &Bot) -> usize {
    let both = |game: &&Value| {
        game["hasMoved"] == true && game["fen"].as_str().is_some_and(|fen| !fen.ends_with(" 1"))
    };
    bot.playing().await.iter().filter(both).count()
}

/// Eight games, the server's end amid them, and its return.
async fn restart_amid_games(is_inside: bool) {
    let folder = tempfile::tempdir().unwrap();
    let address = free_port();
    let start = async || match is_inside {
        true => Server::inside(address, folder.path()).await,
        false => Server::outside(address, folder.path()).await,
    };
    let server = start().await;
    let bots = ["alice", "bob"].map(|name| start_bot(address, name));
    // The agent's name keeps the test's streams apart from those of alice's client.
    let alice = Bot::new(address, "lip_alice");
    let mut games = Vec::new();
    for _ in 0..GAMES {
        let challenge = alice.challenge("bob", "rated=true&clock.limit=60&clock.increment=1").await;
        games.push(challenge["id"].as_str().unwrap().to_owned());
    }
    // A challenge that stays open: carol has no client.
    let (_, made) = Bot::new(address, "admin").post("/api/zeitnot/account", "name=Carol").await;
    let waiting = alice.challenge("carol", "clock.limit=60&clock.increment=1").await;

    until("the games get going", async || moved(&alice).await == GAMES).await;
    let before = join_all(games.iter().map(|game| moves(&alice, game))).await;
    // A kill may cost the last moments, but not what is written.
    until("the state is written", async || {
        // A short game is one piece in a page of the database: its id, and JSON in which clocks follow the moves.
        let read = |name: &str| fs::read(folder.path().join("games").join(name)).unwrap_or_default();
        let state = ["zeitnot.db", "zeitnot.db-wal"].map(read).concat();
        let state = String::from_utf8_lossy(&state);
        games.iter().zip(&before).all(|(game, moves)| {
            let moves = format!(r#""moves":["{}""#, moves.replace(' ', r#"",""#));
            let key = format!("{game}{{");
            let mut rows = state.split(&key).skip(1).filter_map(|row| row.split("\"left\"").next());
            rows.any(|row| row.contains(&moves))
        })
    })
    .await;
    assert_eq!(alice.playing().await.len(), GAMES, "all games run when the server ends");
    server.end().await;
    let server = start().await;

    let carol = Bot::new(address, made["token"].as_str().unwrap());
    assert_eq!(carol.get("/api/account").await.1["id"], "carol", "an account that was made is kept");
    let open = carol.events().await.expect("challenge").await;
    assert_eq!(open["challenge"]["id"], waiting["id"]);
    until("the games end", async || alice.playing().await.is_empty()).await;
    for (game, before) in games.iter().zip(&before) {
        let after = alice.watch(game).await.expect("gameFull").await;
        let moves = after["state"]["moves"].as_str().unwrap();
        let status = &after["state"]["status"];
        assert!(moves.starts_with(before.as_str()), "{game}: {moves} does not go on from {before}");
        assert!(
            [json!("mate"), json!("stalemate"), json!("draw")].contains(status),
            "{game} ended with {status}: {moves}"
        );
    }
    for bot in bots {
        bot.ends_now().await;
    }
    // Until a record is written, a kill may still take back the end of its game.
    let written = |game: &String| records(folder.path()).matches(&format!("[GameId \"{game}\"]")).count();
    until("every game is written", async || games.iter().all(|game| written(game) > 0)).await;
    server.end().await;
    for game in &games {
        assert_eq!(written(game), 1, "{game} is written once");
    }
}

#[test(workers = 2)]
async fn eight_games_go_on_after_a_stop() {
    restart_amid_games(true).await;
}

#[test(workers = 2)]
async fn eight_games_go_on_after_a_kill() {
    restart_amid_games(false).await;
}

#[test]
async fn an_outage_and_the_time_until_a_player_is_back_are_on_no_clock() {
    const PAUSE: Duration = Duration::from_millis(300);
    let folder = tempfile::tempdir().unwrap();
    let address = free_port();
    let [alice, bob] = ["lip_alice", "lip_bob"].map(|token| Bot::new(address, token));
    let server = Server::inside(address, folder.path()).await;
    let challenge = alice.challenge("bob", "color=white&clock.limit=30&clock.increment=0").await;
    let game = challenge["id"].as_str().unwrap();
    bob.ok(&format!("/api/challenge/{game}/accept")).await;
    let running = Instant::now();
    lichess_arena::play(&alice, &bob, game, "e2e4 e7e5").await;
    alice.act(game, "draw/yes").await;
    assert_eq!(alice.text("DELETE", "/api/token", "", "").await.0, 204);
    server.end().await;
    let ran = running.elapsed();
    sleep(PAUSE).await;
    let server = Server::inside(address, folder.path()).await;
    assert_eq!(alice.get("/api/account").await.0, 401, "a revoked token stays revoked");
    let mut board = bob.watch(game).await;
    let full = board.expect("gameFull").await;
    has(&full["state"], json!({"moves": "e2e4 e7e5", "wdraw": true}));
    time::pause();
    time::advance(10 * PAUSE).await;
    time::resume();
    let left = bob.watch(game).await.expect("gameFull").await["state"]["wtime"].as_u64().unwrap();
    let used = Duration::from_millis(30_000 - left);
    assert!(used <= ran, "{used:?} of {ran:?}");
    server.end().await;
}

#[test(workers = 2)]
async fn a_game_that_was_told_to_be_over_is_over_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let address = free_port();
    let [alice, bob] = ["lip_alice", "lip_bob"].map(|token| Bot::new(address, token));
    let server = Server::outside(address, folder.path()).await;
    let challenge = alice.challenge("bob", "color=white&clock.limit=60&clock.increment=0").await;
    let game = challenge["id"].as_str().unwrap();
    bob.ok(&format!("/api/challenge/{game}/accept")).await;
    let mut board = bob.watch(game).await;
    let mut events = alice.events().await;
    lichess_arena::play(&alice, &bob, game, "f2f3 e7e5 g2g4").await;
    // One of both ways is the first to tell of the end.
    let told = async { while board.expect("gameState").await["status"] != "mate" {} };
    let answered = async {
        bob.play(game, "d8h4").await;
        // The answer, too, is given once all have been told.
        assert!(bob.playing().await.is_empty());
    };
    tokio::select! {
        () = told => {}
        _ = events.expect("gameFinish") => {}
        () = answered => {}
    }
    server.end().await;
    let server = Server::outside(address, folder.path()).await;
    has(
        &bob.watch(game).await.expect("gameFull").await["state"],
        json!({"status": "mate", "winner": "black"}),
    );
    until("the game is written", async || records(folder.path()).contains(game)).await;
    server.end().await;
}

//! The arena's tables for TUC-Chess: raw clients over UDP, and whole games between our bots.

use std::{fs, net::SocketAddr, path::PathBuf, time::Duration};

use tempfile::TempDir;
use tokio::{net::UdpSocket, task::JoinHandle, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena::{Arena, Config, Summary};
use zeitnot_bot as bot;
use zeitnot_clients::{Protocol, Shutdown, tuc::TucChess};
use zeitnot_engine::Kind;

use crate::support::{bot::lobby, wait::soon};

const QUIET: Duration = Duration::from_millis(200);

/// Arena with one table.
struct Table {
    address: SocketAddr,
    folder: TempDir,
    stop: CancellationToken,
    running: JoinHandle<Summary>,
}

impl Table {
    async fn open(settings: &str) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "games = '{}'\n[[tuc]]\naddress = '127.0.0.1:0'\ncountdown = '50ms'\n{settings}",
            folder.path().display()
        );
        let config: Config = toml::from_str(&text).unwrap();
        let arena = Arena::bind(config).await.unwrap();
        let address = arena.tables()[0];
        let stop = CancellationToken::new();
        Table { address, folder, running: tokio::spawn(arena.run(stop.clone())), stop }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("tuc-{}{name}", self.address.port()))
    }

    async fn ends(self) -> (TempDir, SocketAddr) {
        soon("the arena ends", self.running).await.unwrap();
        (self.folder, self.address)
    }
}

/// Scripted player.
struct Player(UdpSocket);

impl Player {
    async fn new(table: &Table) -> Player {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(table.address).await.unwrap();
        Player(socket)
    }

    async fn say(&self, text: &str) {
        self.0.send(text.as_bytes()).await.unwrap();
    }

    async fn hear(&self) -> String {
        let mut buffer = [0; 300];
        let length = soon("a datagram", self.0.recv(&mut buffer)).await.unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    async fn hears_nothing(&self) {
        let mut buffer = [0; 300];
        assert!(timeout(QUIET, self.0.recv(&mut buffer)).await.is_err());
    }
}

/// Seats two players and starts the game.
async fn seated(table: &Table) -> (Player, Player) {
    let (white, black) = (Player::new(table).await, Player::new(table).await);
    white.say("Anna").await;
    assert_eq!(white.hear().await, "PW");
    black.say("Bob").await;
    assert_eq!(black.hear().await, "PB");
    assert_eq!((white.hear().await, black.hear().await), ("GB".into(), "GB".into()));
    (white, black)
}

#[tokio::test]
async fn both_hear_of_each_move_once_and_the_end_is_written_down() {
    let table = Table::open("games = 1\nprize_chance = 0.0\nworth_chance = 1.0\ntime_limit = '400ms'").await;
    let (white, black) = seated(&table).await;
    white.say("5040").await;
    for player in [&white, &black] {
        assert_eq!(player.hear().await, "T15040990000");
    }
    black.say("1222").await;
    assert_eq!((white.hear().await, black.hear().await), ("T01222990000".into(), "T01222990000".into()));
    white.say("4030").await;
    assert_eq!((white.hear().await, black.hear().await), ("T14030990100".into(), "T14030990100".into()));
    white.hears_nothing().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    // Beyond the time limit: this move is the last.
    black.say("2232").await;
    assert_eq!((white.hear().await, black.hear().await), ("GE0101".into(), "GE0101".into()));
    let (folder, address) = table.ends().await;
    let scores =
        fs::read_to_string(folder.path().join(format!("tuc-{}-scores.log", address.port()))).unwrap();
    assert!(scores.starts_with("Anna 1 Bob 1 20"), "{scores}");
    let told = fs::read_to_string(folder.path().join(format!("tuc-{}.txt", address.port()))).unwrap();
    assert!(told.contains("T15040990000\nT01222990000\nT14030990100\n2232\nGE0101\n"), "{told}");
}

#[tokio::test]
async fn strangers_illegal_moves_and_doubled_datagrams_change_nothing() {
    let table = Table::open("games = 1\nprize_chance = 0.0").await;
    let white = Player::new(&table).await;
    white.say("5040").await;
    white.say("Anna").await;
    assert_eq!(white.hear().await, "PW");
    // No second seat for the same one.
    white.say("Anna").await;
    white.hears_nothing().await;
    let (black, stranger) = (Player::new(&table).await, Player::new(&table).await);
    black.say("Bob").await;
    assert_eq!(black.hear().await, "PB");
    // Too early, but it waits in the socket.
    white.say("5040").await;
    assert_eq!((white.hear().await, black.hear().await), ("GB".into(), "GB".into()));
    assert_eq!((white.hear().await, black.hear().await), ("T15040990000".into(), "T15040990000".into()));
    for (player, text) in [
        (&white, "5040"),
        (&white, "5141"),
        (&stranger, "1020"),
        (&stranger, "carl"),
        (&black, "1030"),
        (&black, "a242"),
        (&black, "-242"),
        (&black, "1020\n"),
        (&black, ""),
        (&black, "9999"),
    ] {
        player.say(text).await;
    }
    stranger.hears_nothing().await;
    white.hears_nothing().await;
    black.say("1020").await;
    assert_eq!((white.hear().await, black.hear().await), ("T01020990000".into(), "T01020990000".into()));
    table.stop.cancel();
    let file = table.file(".txt");
    let (_folder, _) = table.ends().await;
    assert!(fs::read_to_string(file).unwrap().contains("broken off"));
}

#[tokio::test]
async fn a_strict_table_ends_the_game_without_a_word() {
    let table = Table::open("games = 1\nstrict = true").await;
    let (white, black) = seated(&table).await;
    black.say("1020").await;
    let file = table.file(".txt");
    let (_folder, _) = table.ends().await;
    assert!(fs::read_to_string(file).unwrap().contains("dead"));
    white.hears_nothing().await;
}

#[tokio::test]
async fn who_does_not_move_does_not_keep_the_table() {
    let table = Table::open("games = 2\nmove_timeout = '300ms'").await;
    seated(&table).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    seated(&table).await;
    table.ends().await;
}

async fn play(address: SocketAddr, name: &str, kind: Kind, games: u32, move_time: &str) {
    let text = format!(
        "address = '{address}'\nplayer = '{name}'\ngames = {games}\nmove_time = '{move_time}'\n[timeouts]\n\
             reconnect = {{ min_delay = '20ms', max_delay = '20ms', stable_after = '1s' }}"
    );
    let config = toml::from_str(&text).unwrap();
    let shutdown = Shutdown::default();
    let lobby = lobby(kind, bot::Config::default(), &shutdown.now, &TaskTracker::new());
    TucChess::run(config, lobby, shutdown).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_of_ours_play_whole_games_and_thinking_pays() {
    const GAMES: u32 = 3;
    let table = Table::open(&format!("games = {GAMES}\nstrict = true\nrules = '2021'")).await;
    let strong = play(table.address, "strong", Kind::Search, GAMES, "60ms");
    let weak = play(table.address, "weak", Kind::Random, GAMES, "60ms");
    soon("the games end", async { tokio::join!(strong, weak) }).await;
    let file = table.file("-scores.log");
    let (_folder, _) = table.ends().await;
    let scores = fs::read_to_string(file).unwrap();
    let won = scores.lines().filter(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let points = |i: usize| words[i].parse::<i32>().unwrap();
        let lead = points(1) - points(3);
        if words[0] == "strong" { lead > 0 } else { lead < 0 }
    });
    assert_eq!(scores.lines().count(), GAMES as usize);
    assert_eq!(won.count(), GAMES as usize, "{scores}");
}

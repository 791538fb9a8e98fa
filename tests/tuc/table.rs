//! The arena's tables for TUC-Chess: raw clients over UDP, and whole games between our bots.

use std::{fs, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    net::UdpSocket,
    time::{advance, sleep, timeout},
};
use zeitnot_bot as bot;
use zeitnot_clients::tuc::TucChess;
use zeitnot_engine::Kind;
use zeitnot_testing::soon;

use crate::support::{
    arena::{TestArena, results},
    client::Client,
    log::Log,
    storage::Storage,
};

/// Span of paused time in which nothing may be sent.
const QUIET: Duration = Duration::from_millis(200);

/// Arena with one table.
struct Table {
    address: SocketAddr,
    arena: TestArena,
}

impl Table {
    async fn open(settings: &str) -> Table {
        let text = format!(
            "games = '{{folder}}/games'\n[[tuc]]\naddress = '127.0.0.1:0'\ncountdown = '50ms'\n{settings}"
        );
        let arena = TestArena::open(tempfile::tempdir().unwrap(), &text).await;
        Table { address: arena.tables[0], arena }
    }

    /// Waits for the end, and returns the texts of the record and of the scores.
    async fn ends(self) -> [String; 2] {
        self.ends_in().await.0
    }

    /// The same, with the arena's folder.
    async fn ends_in(self) -> ([String; 2], Storage) {
        let (_, folder) = self.arena.end().await;
        let texts = [".txt", "-scores.log"].map(|name| {
            let file = format!("games/tuc-{}{name}", self.address.port());
            fs::read_to_string(folder.path().join(file)).unwrap_or_default()
        });
        (texts, folder)
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

/// Expects that both players are told this.
async fn told(players: [&Player; 2], text: &str) {
    for player in players {
        assert_eq!(player.hear().await, text);
    }
}

/// Seats two players and starts the game.
async fn seated(table: &Table) -> (Player, Player) {
    let white = Player::new(table).await;
    let black = Player::new(table).await;
    white.say("Anna").await;
    assert_eq!(white.hear().await, "PW");
    black.say("Bob").await;
    assert_eq!(black.hear().await, "PB");
    told([&white, &black], "GB").await;
    (white, black)
}

#[test(start_paused = true)]
async fn both_are_told_each_move_once_and_the_end_is_recorded() {
    let table = Table::open(
        "games = 1\nprize_chance = 0.0\nworth_chance = 1.0\ntime_limit = '30s'\nmove_timeout = '1h'",
    )
    .await;
    let (white, black) = seated(&table).await;
    for (player, mv, answer) in
        [(&white, "5040", "T15040990000"), (&black, "1222", "T01222990000"), (&white, "4030", "T14030990100")]
    {
        player.say(mv).await;
        told([&white, &black], answer).await;
    }
    white.hears_nothing().await;
    // Beyond the time limit: this move is the last.
    advance(Duration::from_secs(30)).await;
    black.say("2232").await;
    told([&white, &black], "GE0101").await;
    let ([record, scores], folder) = table.ends_in().await;
    assert!(scores.starts_with("Anna 1 Bob 1 20"), "{scores}");
    let stored: Value = serde_json::from_str(&results(&folder.database(), &["--front", "tuc"])).unwrap();
    assert_eq!((&stored[0]["black"], &stored[0]["result"]), (&json!("Bob"), &json!("1/2-1/2")));
    assert_eq!(stored[0]["moves"], json!(["5040", "1222", "4030", "2232"]));
    assert!(record.contains("T15040990000\nT01222990000\nT14030990100\n2232\nGE0101\n"), "{record}");
}

#[test(start_paused = true)]
async fn strangers_illegal_moves_and_doubled_datagrams_change_nothing() {
    let log = Log::capture();
    let table = Table::open("games = 1\nprize_chance = 0.0").await;
    let white = Player::new(&table).await;
    white.say("5040").await;
    white.say("Anna").await;
    assert_eq!(white.hear().await, "PW");
    // No second seat for the same one.
    white.say("Anna").await;
    white.hears_nothing().await;
    let black = Player::new(&table).await;
    let stranger = Player::new(&table).await;
    black.say("Bob").await;
    assert_eq!(black.hear().await, "PB");
    // Too early, but it waits in the socket.
    white.say("5040").await;
    told([&white, &black], "GB").await;
    told([&white, &black], "T15040990000").await;
    for (player, texts) in [
        (&white, &["5040", "5141"][..]),
        (&stranger, &["1020", "carl"]),
        (&black, &["1030", "a242", "-242", "1020\n", "", "9999"]),
    ] {
        for text in texts {
            player.say(text).await;
        }
    }
    stranger.hears_nothing().await;
    white.hears_nothing().await;
    black.say("1020").await;
    told([&white, &black], "T01020990000").await;
    table.arena.shutdown.cancel();
    let [record, _] = table.ends().await;
    assert!(record.contains("broken off") && record.contains("\"Anna\" – \"Bob\""), "{record}");
    for reported in
        ["ignored \"1020\" from", "ignored \"carl\" from", "\"9999\" from", "waiting for a player's name"]
    {
        assert!(log.count(reported) > 0, "{reported}: {}", log.text());
    }
}

#[test(start_paused = true)]
async fn a_strict_table_ends_the_game_silently_at_an_illegal_move() {
    let table = Table::open("games = 1\nstrict = true").await;
    let (white, black) = seated(&table).await;
    black.say("1020").await;
    let [record, _] = table.ends().await;
    assert!(record.contains("dead"), "{record}");
    white.hears_nothing().await;
}

#[test(start_paused = true)]
async fn a_record_that_could_not_be_written_is_tried_again_at_the_end() {
    let log = Log::capture();
    let table = Table::open("games = 2\nstrict = true").await;
    // No file can be made in the place of a folder.
    let file = table.arena.folder.path().join(format!("games/tuc-{}.txt", table.address.port()));
    fs::create_dir(&file).unwrap();
    let (_white, black) = seated(&table).await;
    black.say("1020").await;
    log.shows("cannot write a game to ").await;
    fs::remove_dir(&file).unwrap();
    table.arena.shutdown.cancel();
    let [record, _] = table.ends().await;
    assert!(record.contains("dead"), "{record}");
}

#[test(start_paused = true)]
async fn a_player_who_does_not_move_does_not_keep_the_table() {
    let table = Table::open("games = 2\nmove_timeout = '300ms'").await;
    seated(&table).await;
    sleep(Duration::from_millis(600)).await;
    seated(&table).await;
    table.ends().await;
}

#[test(start_paused = true)]
async fn somebody_who_has_left_keeps_no_seat() {
    let log = Log::capture();
    let table = Table::open("games = 1").await;
    // One datagram, and nobody behind it.
    Player::new(&table).await.say("ghost").await;
    let early = Player::new(&table).await;
    early.say("early").await;
    assert_eq!(early.hear().await, "PW");
    // Somebody who waited for an opponent, and left.
    sleep(Duration::from_secs(60)).await;
    drop(early);
    let (white, black) = seated(&table).await;
    white.say("5040").await;
    assert!(white.hear().await.starts_with("T15040"));
    black.hear().await;
    table.arena.shutdown.cancel();
    let [record, _] = table.ends().await;
    assert!(record.contains("\"Anna\" – \"Bob\""), "{record}");
    assert_eq!(log.count("is gone: the seat is free"), 2, "{}", log.text());
}

#[test(start_paused = true)]
async fn a_player_who_waits_for_long_keeps_the_seat() {
    let table = Table::open("games = 1").await;
    let white = Player::new(&table).await;
    let black = Player::new(&table).await;
    white.say("Anna").await;
    assert_eq!(white.hear().await, "PW");
    sleep(Duration::from_secs(3600)).await;
    black.say("Bob").await;
    assert_eq!(black.hear().await, "PB");
    for text in ["PW", "GB"] {
        assert_eq!(white.hear().await, text);
    }
    table.arena.stop().await;
}

#[test(start_paused = true)]
async fn a_ghost_at_the_board_does_not_keep_the_table() {
    let table = Table::open("games = 1\nfirst_move = '300ms'").await;
    let (white, _black) = seated(&table).await;
    white.say("5040").await;
    let [record, _] = table.ends().await;
    assert!(record.contains("nobody moved for too long"), "{record}");
}

#[test(workers = 2)]
async fn our_search_beats_random_moves_in_whole_games() {
    const GAMES: usize = 2;
    let table = Table::open(&format!("games = {GAMES}\nstrict = true\nrules = '2021'")).await;
    let players = [("strong", Kind::Search), ("weak", Kind::Random)].map(|(name, kind)| {
        let text = format!(
            "address = '{}'\nplayer = '{name}'\ngames = {GAMES}\nmove_time = '60ms'\n[timeouts]\n\
             between_games = '20ms'\nreconnect = {{ min_delay = '20ms', max_delay = '20ms', stable_after = '1s' }}",
            table.address
        );
        Client::with_bot::<TucChess>(toml::from_str(&text).unwrap(), kind, bot::Config::default())
    });
    for player in players {
        player.ends().await;
    }
    let [_, scores] = table.ends().await;
    assert_eq!(scores.lines().count(), GAMES);
    for line in scores.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let points = |at: usize| words[at].parse::<i32>().unwrap();
        let lead = points(1) - points(3);
        assert!(if words[0] == "strong" { lead > 0 } else { lead < 0 }, "{scores}");
    }
}

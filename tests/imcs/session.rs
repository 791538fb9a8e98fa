//! Our client against a scripted IMCS server.

use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use zeitnot_clients::{
    Reconnect,
    imcs::{Config, Imcs, Timeouts},
};
use zeitnot_rules::{Color, GameKind};
use zeitnot_seat::{Action, Event, Seats};
use zeitnot_testing::soon;

use crate::support::{
    client::{Client, Player},
    latency::prompt,
    log::Log,
    pauses::Pauses,
};

struct Server(TcpListener);

impl Server {
    async fn start() -> Server {
        Server(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    async fn accept(&self) -> Wire {
        let (stream, _) = soon("a connection", self.0.accept()).await.unwrap();
        let mut wire = Wire(BufStream::new(stream));
        wire.say("100 imcs 2.5").await;
        wire
    }

    /// Accepts a client and logs it in.
    async fn visited(&self) -> Wire {
        let mut wire = self.accept().await;
        wire.expect("me alice hush", "201 hello alice").await;
        wire.expect("clean", "204 0 games cleaned").await;
        wire
    }

    /// Accepts a client and starts game 7 against bob, with the client as White.
    async fn playing(&self, client: &mut Client) -> (Wire, Player) {
        let wire = self.starts_game().await;
        (wire, client.game().await)
    }

    async fn starts_game(&self) -> Wire {
        let mut wire = self.visited().await;
        wire.expect("list", "211 1 available games\r\n 7 bob B 1:00 1:00 1000 [offer]\r\n.").await;
        wire.expect("accept 7 W", "105 W 1:00 1:00 game starts").await;
        wire
    }
}

struct Wire(BufStream<TcpStream>);

impl Wire {
    async fn say(&mut self, text: &str) {
        self.0.write_all(format!("{text}\r\n").as_bytes()).await.unwrap();
        self.0.flush().await.unwrap();
    }

    async fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = soon("a line of the client", self.0.read_line(&mut line)).await.unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Expects this line and answers it.
    async fn expect(&mut self, line: &str, answer: &str) {
        self.hears(line).await;
        self.say(answer).await;
    }

    async fn ask(&mut self, before: &str, number: u32, clocks: &str) {
        let board = "kqbnr\nppppp\n.....\n.....\nPPPPP\nRNBQK\n";
        self.say(&format!("{before}\r\n{number} W\n{board}\r\n? {clocks}")).await;
    }

    async fn hears(&mut self, line: &str) {
        assert_eq!(self.hear().await.as_deref(), Some(line));
    }

    async fn closed(&mut self) {
        assert_eq!(self.hear().await, None);
    }
}

fn config(server: &Server, more: &str) -> Config {
    let at = server.0.local_addr().unwrap();
    let text = format!("address = 'tcp://{at}'\nuser = 'alice'\npassword = 'hush'\n{more}");
    let delay = Duration::from_millis(10);
    let timeouts = Timeouts {
        beyond_clock: Duration::from_millis(300),
        reconnect: Reconnect { min_delay: delay, max_delay: delay, stable_after: delay },
        ..Timeouts::default()
    };
    Config { timeouts, ..toml::from_str(&text).unwrap() }
}

async fn started(more: &str) -> (Server, Client) {
    let server = Server::start().await;
    let client = Client::of::<Imcs>(config(&server, more));
    (server, client)
}

#[test(start_paused = true)]
async fn a_game_from_its_list_to_its_end() {
    let (server, mut client) = started("games = 1").await;
    let (mut wire, mut player) = server.playing(&mut client).await;
    assert_eq!((player.info.game, player.info.side), (GameKind::MinichessImcs, Color::White));
    assert_eq!(player.info.names.0, ["alice", "bob"]);

    wire.ask("", 1, "01:00.000 01:00.500").await;
    let Some(Event::Board(board)) = player.event().await else { panic!() };
    assert_eq!(board, "kqbnr/ppppp/...../...../PPPPP/RNBQK W 1");
    let Some(Event::YourTurn { turn, clocks: Some(clocks) }) = player.event().await else { panic!() };
    assert_eq!(clocks.left.0.map(|left| left.as_millis()), [60_000, 60_500]);
    assert_eq!(clocks.moves_to_go, Some(40));
    player.play(turn, "a2a3").await;
    // A move for an earlier turn is not sent.
    player.play(turn, "b2b3").await;
    wire.hears("a2-a3").await;

    // A complaint: nothing was played.
    wire.ask("- illegal move a2-a3\r\n", 1, "00:59.000 01:00.500").await;
    let Some(Event::Refused { turn: refused, why }) = player.event().await else { panic!() };
    assert_eq!((refused, why.as_str()), (turn, "illegal move a2-a3"));
    player.answer("b1c3").await;
    wire.hears("b1-c3").await;

    wire.ask("! b5-b4\r\n", 2, "00:58.000 01:00.000").await;
    for mv in ["b1c3", "b5-b4"] {
        let Some(Event::Moved(moved)) = player.event().await else { panic!() };
        assert_eq!(moved.as_str(), mv);
    }
    player.answer("c3d5").await;
    wire.hears("c3-d5").await;
    wire.say("= W wins on opponent time").await;
    assert_eq!(player.ended().await, "W wins on opponent time");
    // It waits for the close in silence.
    assert!(timeout(Duration::from_millis(50), wire.hear()).await.is_err());
    wire.say("231 W wins on opponent time").await;
    drop(wire);
    client.ends().await;
}

#[test(start_paused = true)]
async fn an_offer_is_withdrawn_repeated_and_played() {
    let server = Server::start().await;
    let offer = "[offer]\ncolor = 'B'\ntime = '60s'\nopponent_time = '90s'\nwithdraw_after = '50ms'\n[accept]\nblock_list = ['eve']";
    let mut client = Client::of::<Imcs>(config(&server, offer));
    let mut wire = server.visited().await;
    let list = "211 3 available games\r\n 1 eve W 1:00 1:00 1000 [offer]\r\n 2 alice ? 1:00 1:00 1000 [offer]\r\n \
                3 bob carol (1000/1000)  [in-progress]\r\n.";
    wire.expect("list", list).await;
    wire.expect("offer B 1:00 1:30", "103 4 game waiting for offer acceptance").await;
    // Nobody accepts: a second connection withdraws it, and the first reads the list again.
    let mut second = server.visited().await;
    wire.say("421 offer countermanded").await;
    second.expect("quit", "200 Goodbye").await;
    wire.expect("list", "211 0 available games\r\n.").await;
    wire.expect("offer B 1:00 1:30", "103 5 game waiting for offer acceptance").await;
    wire.say("106 B 1:00 1:30 game starts").await;
    let mut player = client.game().await;
    assert_eq!(
        (player.info.side, player.info.names.0.each_ref().map(String::as_str)),
        (Color::Black, ["?", "alice"])
    );
    // The list tells who has accepted it.
    let mut second = server.accept().await;
    second.expect("me alice hush", "201 hello alice").await;
    second.expect("list", "211 1 games\r\n 5 carol alice (1000/1000)  [in-progress]\r\n.").await;
    second.hears("quit").await;
    assert!(matches!(player.next().await, Event::OpponentNamed(name) if name == "carol"));
    // A stop finishes the game first.
    client.shutdown.soon.cancel();
    wire.say("! a2-a3\r\n\r\n1 B\nkqbnr\nppppp\n.....\nP....\n.PPPP\nRNBQK\n\r\n? 01:00.000 01:30.000").await;
    player.answer("a5a4").await;
    wire.hears("a5-a4").await;
    wire.say("= B wins\r\n232 B wins").await;
    assert_eq!(player.ended().await, "B wins");
    drop(wire);
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_first_stop_withdraws_the_offer() {
    let (server, client) = started("[offer]").await;
    let mut wire = server.visited().await;
    wire.expect("offer ? 5:00 5:00", "103 4 game waiting for offer acceptance").await;
    // Without [accept] it waits on.
    assert!(timeout(Duration::from_millis(50), wire.hear()).await.is_err());
    client.shutdown.soon.cancel();
    let mut second = server.visited().await;
    second.expect("quit", "200 Goodbye").await;
    wire.say("421 offer countermanded").await;
    wire.expect("quit", "200 Goodbye").await;
    wire.closed().await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_connection_that_ends_while_an_offer_waits_is_logged_once() {
    let log = Log::capture();
    let (server, client) = started("[offer]").await;
    for game in 1..=6 {
        let mut wire = server.visited().await;
        wire.expect("offer ? 5:00 5:00", &format!("103 {game} game waiting for offer acceptance")).await;
        drop(wire);
    }
    client.shutdown.now.cancel();
    client.ends().await;
    for line in ["is offered; waiting", "reconnecting in", "connected again"] {
        assert_eq!(log.count(line), 1, "{line}: {}", log.text());
    }
}

#[test(start_paused = true)]
async fn an_unknown_user_registers_if_allowed() {
    let (server, client) = started("register = true").await;
    let mut wire = server.accept().await;
    wire.expect("me alice hush", "400 no such username: please use register command").await;
    wire.expect("register alice hush", "402 username already exists: please use password command").await;
    wire.expect("me alice hush", "201 hello alice").await;
    wire.expect("clean", "204 0 games cleaned").await;
    wire.hears("list").await;
    drop(wire);

    // It comes again.
    let mut wire = server.accept().await;
    wire.expect("me alice hush", "400 no such username: please use register command").await;
    wire.expect("register alice hush", "202 hello new user alice").await;
    wire.expect("clean", "204 0 games cleaned").await;
    wire.hears("list").await;
    drop(wire);
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn a_refused_login_ends_the_client_with_advice() {
    for (reply, advice) in [
        ("401 wrong password", "correct `user` and `password`"),
        ("400 no such username: please use register command", "register = true"),
    ] {
        let (server, client) = started("").await;
        let mut wire = server.accept().await;
        wire.expect("me alice hush", reply).await;
        let error = client.result().await.unwrap_err().to_string();
        assert!(error.contains(reply) && error.contains(advice) && !error.contains("hush"), "{error}");
    }
}

#[test(start_paused = true)]
async fn offers_that_failed_are_not_accepted_again() {
    let (server, mut client) = started("[accept]").await;
    let mut wire = server.visited().await;
    let list =
        "211 2 available games\r\n 7 bob B 1:00 1:00 1000 [offer]\r\n 8 carol W 1:00 1:00 1000 [offer]\r\n.";
    wire.expect("list", list).await;
    wire.expect("accept 7 W", "408 no such game").await;
    wire.expect("accept 8 B", "106 B 1:00 1:00 game starts").await;
    let mut player = client.game().await;
    wire.say("W send move request failed: resource vanished\r\nX fatal IO error: exiting").await;
    assert!(player.ended().await.contains("the opponent is gone"));
    drop(wire);
    // Neither is tried again.
    let mut wire = server.visited().await;
    let list = list.replace("\r\n.", "\r\n 9 dave ? 1:00 1:00 1000 [offer]\r\n.");
    wire.expect("list", &list).await;
    wire.expect("accept 9", "408 no such game").await;
    client.shutdown.soon.cancel();
    wire.expect("quit", "200 Goodbye").await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_broken_off_game_ends_with_its_reason() {
    let (server, mut client) = started("").await;
    for (said, told) in [
        ("X fatal IO error: exiting", "broken off"),
        ("= W wins on opponent disconnect\r\nX fatal IO error: exiting", "W wins on opponent disconnect"),
        ("503 server shutdown, come back later", "503 server shutdown"),
    ] {
        let (mut wire, mut player) = server.playing(&mut client).await;
        wire.ask("! b5-b4\r\n", 2, "00:10.000 00:10.000").await;
        player.turn().await;
        wire.say(said).await;
        drop(wire);
        let ended = player.ended().await;
        assert!(ended.contains(told), "{ended}");
    }
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn a_game_that_can_be_taken_up_is_finished_after_a_stop() {
    let server = Server::start().await;
    let seats = Seats::new(1);
    let mut client = Client::with_seats::<Imcs>(config(&server, ""), &seats);
    let (mut wire, mut player) = server.playing(&mut client).await;
    wire.ask("", 1, "01:00.000 01:00.000").await;
    player.turn().await;
    client.shutdown.soon.cancel();
    drop(wire);
    player.ended().await;
    drop(player);
    assert!(!seats.has_free());
    let mut wire = server.accept().await;
    wire.expect("me alice hush", "201 hello alice").await;
    wire.expect("list", "211 1 available games\r\n 7 alice bob (1000/1000)  [in-progress]\r\n.").await;
    wire.expect("accept 7", "105 W 0:59 1:00 game starts").await;
    let mut player = client.game().await;
    wire.ask("! b5-b4\r\n", 2, "00:58.000 01:00.000").await;
    player.answer("b1c3").await;
    wire.hears("b1-c3").await;
    wire.say("= W wins\r\n231 W wins").await;
    assert_eq!(player.ended().await, "W wins");
    drop(wire);
    client.ends().await;
}

/// Servers of the course let nobody take up a game, also those that list it until they miss the player.
#[test(start_paused = true)]
async fn a_lost_game_that_cannot_be_taken_up_is_given_up_at_once() {
    let (server, mut client) = started("").await;
    for is_listed in [false, true] {
        let (mut wire, mut player) = server.playing(&mut client).await;
        wire.ask("! b5-b4\r\n", 2, "00:10.000 00:10.000").await;
        player.turn().await;
        drop(wire);
        let ended = player.ended().await;
        assert!(ended.contains("the server closed the connection"), "{ended}");
        let mut wire = server.accept().await;
        wire.expect("me alice hush", "201 hello alice").await;
        if is_listed {
            let list = "211 1 available games\r\n 7 alice bob (1000/1000)  [in-progress]\r\n.";
            wire.expect("list", list).await;
            wire.expect("accept 7", "408 no such game").await;
        } else {
            wire.expect("list", "211 0 available games\r\n.").await;
        }
        wire.expect("clean", "204 0 games cleaned").await;
        wire.hears("list").await;
        drop(wire);
    }
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn no_pause_is_long_while_a_lost_game_could_still_run() {
    let server = Server::start().await;
    let config = Config { timeouts: Timeouts::default(), ..config(&server, "") };
    let mut client = Client::of::<Imcs>(config);
    let (mut wire, mut player) = server.playing(&mut client).await;
    wire.ask("! b5-b4\r\n", 2, "00:10.000 00:30.000").await;
    player.answer("b1c3").await;
    wire.hears("b1-c3").await;
    drop(wire);
    // Our opponent has 30 s for a move, and we have 10 s then.
    let pauses = Pauses::until_one_is_long(async || drop(server.accept().await)).await;
    pauses.are_short_for(Duration::from_secs(40), Duration::from_millis(625));
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_server_that_falls_silent_in_a_game_is_left() {
    let (server, mut client) = started("").await;
    let (mut wire, mut player) = server.playing(&mut client).await;
    wire.ask("! b5-b4\r\n", 2, "00:10.000 00:00.100").await;
    player.answer("b1c3").await;
    wire.hears("b1-c3").await;
    assert!(player.ended().await.contains("nothing from the server"));
    wire.closed().await;
    // And it comes back.
    let wire = server.accept().await;
    drop(wire);
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn a_game_without_a_player_is_resigned() {
    let (server, mut client) = started("").await;
    let (mut wire, mut player) = server.playing(&mut client).await;
    wire.ask("", 1, "00:10.000 00:10.000").await;
    let turn = player.turn().await;
    player.actions.send(Action::Resign { turn }).await.unwrap();
    wire.hears("resign").await;
    wire.say("= B wins on opponent resignation\r\n232 B wins on opponent resignation").await;
    drop(wire);

    let mut wire = server.starts_game().await;
    client.decline().await;
    wire.hears("resign").await;
    wire.say("= B wins on opponent resignation\r\n232 B wins on opponent resignation").await;
    drop(wire);

    let (mut wire, mut player) = server.playing(&mut client).await;
    wire.ask("", 1, "00:10.000 00:10.000").await;
    let turn = player.turn().await;
    player.actions.send(Action::Leave { turn }).await.unwrap();
    wire.hears("resign").await;
    wire.say("= B wins on opponent resignation\r\n232 B wins on opponent resignation").await;
    drop(wire);

    let (mut wire, player) = server.playing(&mut client).await;
    drop(player);
    wire.hears("resign").await;
    client.ends_now().await;
}

/// This server leaves Nagle's algorithm on.
#[test]
async fn a_request_does_not_wait_for_a_late_acknowledgement() {
    let (server, mut client) = started("").await;
    let (mut wire, mut player) = server.playing(&mut client).await;
    prompt(async || {
        wire.say("! b5-b4").await;
        wire.ask("", 2, "00:59.000 00:59.000").await;
        player.answer("b1c3").await;
        wire.hears("b1-c3").await;
    })
    .await;
    client.ends_now().await;
}

#[test]
async fn a_move_that_ends_the_game_counts() {
    for end in ["= W wins\r\n231 W wins", "231 W wins", "= draw\r\n230 draw"] {
        let (server, mut client) = started("").await;
        let (mut wire, mut player) = server.playing(&mut client).await;
        wire.ask("", 1, "01:00.000 01:00.000").await;
        player.answer("a2a3").await;
        wire.hears("a2-a3").await;
        wire.say(end).await;
        player.sees("a2a3").await;
        player.ended().await;
        client.ends_now().await;
    }
}

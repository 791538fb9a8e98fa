//! Servers that are not up yet, that go away, or that refuse us.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use zeitnot_arena::TournamentConfig;
use zeitnot_clients::{
    ProtocolError,
    contest::{Config, Contest, Timeouts},
};
use zeitnot_net::secret::Secret;
use zeitnot_seat::Seats;
use zeitnot_testing::soon;

use crate::support::{
    contest_server::{Client, Server, Transport, config, entry, in_game},
    log::Log,
    pauses::Pauses,
};

#[test(start_paused = true)]
async fn a_server_that_goes_and_comes_back_is_joined_again() {
    let (server, mut client, wire, mut player) = in_game(Transport::Tcp).await;
    drop(wire);
    assert!(player.ended().await.starts_with("no result: "));
    let mut wire = server.joined().await;
    wire.begin("g2").await;
    let mut player = client.game().await;
    wire.ask("g2").await;
    player.answer("e2e4").await;
    wire.expect("MOVE g2 e2-e4").await;
}

#[test(start_paused = true)]
async fn a_lost_game_keeps_its_seat_as_long_as_it_may_go_on() {
    let server = Server::start(Transport::Tcp).await;
    let seats = Seats::new(1);
    let mut client = Client::with_seats::<Contest>(entry(&server.address(), "alice"), &seats);
    for game in ["g1", "g1 again"] {
        let mut wire = server.joined().await;
        wire.begin("g1").await;
        let mut player = client.game().await;
        wire.ask("g1").await;
        player.turn().await;
        drop(wire);
        player.ended().await;
        drop(player);
        assert!(!seats.has_free(), "{game}");
    }
    // The server lets it go on no more: our clock of 10 s runs out.
    let _wire = server.joined().await;
    let mut changes = seats.changes();
    while !seats.has_free() {
        changes.next().await;
    }
    client.ends_soon().await;
}

#[test]
fn after_an_outage_of_half_a_minute_nobody_is_absent() {
    let class = TournamentConfig::new("class", "3").unwrap();
    let outage = Duration::from_secs(30);
    assert!(outage + Timeouts::default().reconnect.max_delay < class.absent_after);
}

#[test(start_paused = true)]
async fn no_pause_is_long_while_a_lost_game_could_still_run() {
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::of::<Contest>(entry(&server.address(), "alice"));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    wire.ask("g1").await;
    player.turn().await;
    drop(wire);
    // Our clock of 10 s runs.
    let pauses = Pauses::until_one_is_long(async || drop(server.accept().await)).await;
    pauses.are_short_for(Duration::from_secs(10), Duration::from_millis(625));
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_server_that_is_not_there_yet_is_waited_for() {
    let log = Log::capture();
    let reserved = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = reserved.local_addr().unwrap();
    drop(reserved);
    let client = Client::of::<Contest>(config(&format!("tcp://{at}")));
    log.shows("reconnecting in").await;
    let text = log.text();
    let line = text.lines().find(|line| line.contains("WARN")).unwrap();
    assert!(line.contains(&at.to_string()) && line.contains("cannot connect: Connection refused"), "{line}");
    client.ends_soon().await;
}

/// Answers a client's first bytes with this text and returns them.
async fn proxy(listener: TcpListener, answer: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = [0; 4096];
    let read = stream.read(&mut bytes).await.unwrap();
    stream.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

#[test(start_paused = true)]
async fn a_wrong_token_is_shown_once_and_is_the_end() {
    let log = Log::capture();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}/play", listener.local_addr().unwrap());
    let token = Secret::new("hush-hush".to_owned(), 100);
    let client = Client::of::<Contest>(Config { token, ..config(&address) });
    let request =
        soon("a request", proxy(listener, "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n")).await;
    assert!(request.to_lowercase().contains("authorization: bearer hush-hush"), "{request}");
    let Err(ProtocolError::Refused { what, .. }) = client.result().await else { panic!() };
    assert!(what.contains("401"), "{what}");
    assert!(!log.text().contains("hush-hush"));
}

#[test(start_paused = true)]
async fn a_server_that_accepts_and_says_nothing_is_given_up() {
    let log = Log::capture();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}/play", listener.local_addr().unwrap());
    let connect = Duration::from_millis(50);
    let timeouts = Timeouts { connect, ..config(&address).timeouts };
    let _client = Client::of::<Contest>(Config { timeouts, ..config(&address) });
    log.shows(
        "cannot connect: no answer within 50ms (is the server running, and its address right?); reconnecting",
    )
    .await;
}

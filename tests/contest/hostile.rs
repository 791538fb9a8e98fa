//! Hostile bytes, and silence.

use std::time::Duration;

use crate::support::{
    contest_server::{self, Client, Server, Transport},
    log::Log,
};

#[tokio::test(start_paused = true)]
async fn half_a_line_before_a_close_is_no_line() {
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::start(contest_server::hasty(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    wire.bytes(b"GAME_OVER g1 1-0 Check").await;
    drop(wire);
    assert!(player.ended().await.starts_with("connection lost: the server closed the connection"));
    server.joined().await;
}

#[tokio::test(start_paused = true)]
async fn bad_lines_are_skipped_and_the_game_goes_on() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::start(contest_server::hasty(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    wire.bytes(&vec![b'x'; 10 << 20]).await;
    wire.bytes(b"\nINFO \xff\xfe\n").await;
    wire.your_move("g1", contest_server::START).await;
    let turn = player.turn().await;
    player.play(turn, "e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
    log.shows("longer than").await;
    log.shows("not UTF-8").await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_nonsense_does_not_flood_the_log() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let _client = Client::start(contest_server::config(&server.address()));
    let mut wire = server.joined().await;
    wire.bytes("\u{1b}]0;owned\u{7} boo\n".repeat(1000).as_bytes()).await;
    wire.say("GAME_PAIRED g1 alice bob 10.00 0.10").await;
    wire.expect("ACK g1").await;
    let text = log.text();
    assert_eq!(text.matches("WARN").count(), 10, "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "the terminal is not theirs");
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_is_too_long_costs_the_connection_only() {
    let server = Server::start(Transport::Ws).await;
    let _client = Client::start(contest_server::hasty(&server.address()));
    let mut wire = server.joined().await;
    wire.say(&"x".repeat(1 << 20)).await;
    server.joined().await;
}

#[tokio::test(start_paused = true)]
async fn silence_during_a_game_means_that_the_line_is_dead() {
    let server = Server::start(Transport::Tcp).await;
    let mut config = contest_server::hasty(&server.address());
    config.timeouts.silence = Duration::from_millis(100);
    let mut client = Client::start(config);
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    assert!(player.ended().await.contains("nothing from the server for"));
    let mut again = server.joined().await;
    // Between games there is nothing to be heard, and nothing wrong with that.
    tokio::time::sleep(Duration::from_millis(200)).await;
    again.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_more_answers_than_it_takes_is_left() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let _client = Client::start(contest_server::hasty(&server.address()));
    let mut wire = server.joined().await;
    let flood: String = (0..100).map(|game| format!("GAME_PAIRED g{game} alice bob 10.00 0.10\n")).collect();
    wire.bytes(flood.as_bytes()).await;
    log.shows("no longer reads our lines; reconnecting").await;
    server.joined().await;
}

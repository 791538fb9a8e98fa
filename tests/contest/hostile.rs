//! Hostile bytes, and silence.

use std::{future::pending, time::Duration};

use zeitnot_bot as bot;
use zeitnot_clients::contest::Contest;
use zeitnot_engine::Kind;
use zeitnot_rules::{Game, chess::Chess};

use crate::support::{
    contest_server::{Client, Server, Transport, config, in_game, joined},
    log::Log,
};

#[test(start_paused = true)]
async fn half_a_line_before_a_close_is_not_read() {
    let (server, _client, mut wire, mut player) = in_game(Transport::Tcp).await;
    wire.bytes(b"GAME_OVER g1 1-0 Check").await;
    drop(wire);
    assert!(player.ended().await.starts_with("no result: the server closed the connection"));
    server.joined().await;
}

#[test(start_paused = true)]
async fn bad_lines_are_skipped_and_the_game_goes_on() {
    let log = Log::capture();
    let (_server, _client, mut wire, mut player) = in_game(Transport::Tcp).await;
    wire.bytes(&vec![b'x'; 10 << 20]).await;
    wire.bytes(b"\nINFO \xff\xfe\n").await;
    wire.ask("g1").await;
    player.answer("e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
    log.shows("longer than").await;
    log.shows("not UTF-8").await;
}

#[test(start_paused = true)]
async fn a_flood_of_nonsense_does_not_flood_the_log() {
    let log = Log::capture();
    let (_server, _client, mut wire) = joined(Transport::Tcp).await;
    wire.bytes("\u{1b}]0;owned\u{7} boo\n".repeat(1000).as_bytes()).await;
    wire.say("GAME_PAIRED g1 alice bob 10.00 0.10").await;
    wire.expect("ACK g1").await;
    let text = log.text();
    assert_eq!(text.matches("WARN").count(), 10, "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "the terminal is not theirs");
}

#[test(start_paused = true)]
async fn a_frame_that_is_too_long_costs_only_the_connection() {
    let (server, _client, mut wire) = joined(Transport::Ws).await;
    wire.say(&"x".repeat(1 << 20)).await;
    server.joined().await;
}

#[test(start_paused = true)]
async fn silence_during_a_game_ends_the_connection_and_between_games_it_does_not() {
    let server = Server::start(Transport::Tcp).await;
    let mut config = config(&server.address());
    config.timeouts.silence = Duration::from_millis(100);
    let mut client = Client::of::<Contest>(config);
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    assert!(player.ended().await.contains("nothing from the server for"));
    let mut again = server.joined().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    again.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[test(start_paused = true)]
async fn a_server_that_does_not_read_our_answers_is_left() {
    let log = Log::capture();
    let (server, _client, mut wire) = joined(Transport::Tcp).await;
    let flood: String = (0..100).map(|game| format!("GAME_PAIRED g{game} alice bob 10.00 0.10\n")).collect();
    wire.bytes(flood.as_bytes()).await;
    log.shows("no longer reads our lines; reconnecting").await;
    server.joined().await;
}

#[test]
async fn games_that_end_as_they_begin_cost_the_connection() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let _client =
        Client::with_bot::<Contest>(config(&server.address()), Kind::Random, bot::Config::default());
    let mut wire = server.joined().await;
    let start = Chess::start().print();
    let game = |id| {
        format!(
            "GAME_PAIRED {id} alice bob 10 0\nGAME_STARTED {id} alice bob 10 10 {start}\nGAME_OVER {id} 1-0 -\n"
        )
    };
    let flood: String = (0..2000).map(game).collect();
    // The client may close before all is written.
    tokio::spawn(async move {
        wire.bytes(flood.as_bytes()).await;
        pending::<()>().await;
    });
    server.joined().await;
    log.shows("faster than they can be played").await;
}

//! Stop in two steps.

use zeitnot_clients::contest::Contest;
use zeitnot_testing::soon;

use crate::support::contest_server::{Client, Transport, config, in_game, joined};

#[test(start_paused = true)]
async fn the_first_stop_finishes_the_running_game() {
    let (_server, client, mut wire, mut player) = in_game(Transport::Ws).await;
    client.shutdown.soon.cancel();
    wire.ask("g1").await;
    player.answer("e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
    wire.say("GAME_OVER g1 1-0 Resignation").await;
    assert_eq!(player.ended().await, "1-0 Resignation");
    wire.expect("DISCONNECT").await;
    wire.expect_close().await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_first_stop_between_games_leaves_at_once() {
    let (_server, client, mut wire) = joined(Transport::Tcp).await;
    client.shutdown.soon.cancel();
    wire.expect("DISCONNECT").await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_second_stop_leaves_amid_a_game() {
    let (_server, client, mut wire, mut player) = in_game(Transport::Tcp).await;
    client.shutdown.now.cancel();
    wire.expect("DISCONNECT").await;
    wire.expect_close().await;
    assert!(player.event().await.is_none(), "the seat is gone");
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_second_stop_leaves_amid_a_handshake() {
    // Nobody shakes hands here.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::of::<Contest>(config(&format!("ws://{}", listener.local_addr().unwrap())));
    let _stream = soon("a connection", listener.accept()).await.unwrap();
    client.ends_now().await;
}

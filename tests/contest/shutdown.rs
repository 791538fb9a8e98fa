//! Stop in two steps.

use crate::support::{
    contest_server::{self, Client, Server, Transport},
    wait::soon,
};

#[tokio::test(start_paused = true)]
async fn soon_finishes_the_running_game() {
    let server = Server::start(Transport::Ws).await;
    let mut client = Client::start(contest_server::config(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    client.shutdown.soon.cancel();
    wire.your_move("g1", contest_server::START).await;
    let turn = player.turn().await;
    player.play(turn, "e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
    wire.say("GAME_OVER g1 1-0 Resignation").await;
    assert_eq!(player.ended().await, "1-0 Resignation");
    wire.expect("DISCONNECT").await;
    wire.expect_close().await;
    assert_eq!(client.stopped().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn soon_between_games_leaves_at_once() {
    let server = Server::start(Transport::Tcp).await;
    let client = Client::start(contest_server::config(&server.address()));
    let mut wire = server.joined().await;
    client.shutdown.soon.cancel();
    wire.expect("DISCONNECT").await;
    assert_eq!(client.stopped().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn now_leaves_in_the_middle_of_a_game() {
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::start(contest_server::config(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    client.shutdown.now.cancel();
    wire.expect("DISCONNECT").await;
    wire.expect_close().await;
    assert!(player.event().await.is_none(), "the seat is gone");
    assert_eq!(client.stopped().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn now_leaves_before_the_connection_stands() {
    // Nobody shakes hands here.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::start(contest_server::config(&format!("ws://{}", listener.local_addr().unwrap())));
    let _stream = soon("a connection", listener.accept()).await.unwrap();
    client.shutdown.now.cancel();
    assert_eq!(client.stopped().await, Ok(()));
}

//! A server that leaves Nagle's algorithm on.

use zeitnot_clients::contest::Contest;

use crate::support::{
    contest_server::{Client, START, Server, Transport, config},
    latency::prompt,
};

#[test]
async fn a_request_over_tcp_does_not_wait_for_a_late_acknowledgement() {
    prompt_moves(Transport::Tcp).await;
}

#[test]
async fn a_request_over_websocket_does_not_wait_for_a_late_acknowledgement() {
    prompt_moves(Transport::Ws).await;
}

async fn prompt_moves(transport: Transport) {
    let server = Server::with_nagle(transport).await;
    let mut client = Client::of::<Contest>(config(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    let mut player = client.game().await;
    prompt(async || {
        wire.say(&format!("PLAYER_MOVED g1 bob e2-e4 alice bob 9.00 9.00 {START}")).await;
        wire.ask("g1").await;
        player.answer("e2e4").await;
        wire.expect("MOVE g1 e2-e4").await;
    })
    .await;
    client.ends_now().await;
}

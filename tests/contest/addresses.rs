//! Ports of the other kind: WebSocket spoken to by TCP, and the reverse.

use tokio::{io::AsyncWriteExt, net::TcpListener};
use zeitnot_clients::{ProtocolError, contest::Contest};
use zeitnot_testing::soon;

use crate::support::{
    arena::{By, TestArena},
    contest_server::{Client, Server, Transport, config},
    log::Log,
};

/// Expects that a client of this address gives up, and says this.
async fn refused(address: &str, what: &str, advice: &str) {
    let error = Client::of::<Contest>(config(address)).result().await.unwrap_err();
    let ProtocolError::Refused { server, .. } = &error;
    let told = error.to_string();
    assert!(server.starts_with(address) && told.contains(what) && told.contains(advice), "{told}");
    assert!(!told.contains('\n'), "{told}");
}

#[test]
async fn a_port_of_the_arena_of_the_other_kind_is_named() {
    let log = Log::capture();
    let arena = TestArena::start("").await;
    let [tcp, websocket] = [By::Tcp, By::WebSocket].map(|by| arena.authority(by));
    let http = "does not speak plain TCP, but HTTP: \"HTTP/1.1 400 Bad Request\"";
    refused(&format!("tcp://{websocket}"), http, "set `address`").await;
    refused(&format!("ws://{tcp}"), "does not speak WebSocket", "tcp://host:port").await;
    // The lecturer sees it as well.
    log.shows("does not speak WebSocket, but came to the port for it: lines go to the TCP port").await;
    log.shows("is disconnected: This port takes lines of text over TCP").await;
    arena.stop().await;
}

#[test]
async fn other_servers_of_the_other_kind_are_known_as_well() {
    for (scheme, said, what) in [
        ("tcp", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 400"),
        ("tcp", "HTTP/1.0 501 Unsupported method\r\n\r\n", "HTTP/1.0 501"),
        ("ws", "100 imcs 2.5\r\n", "does not speak WebSocket"),
        ("ws", "INFO First message must be a JOIN or WATCH\n", "does not speak WebSocket"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            stream
        });
        refused(&address, what, "set `address`").await;
        drop(server);
    }
}

#[test(start_paused = true)]
async fn a_server_that_closes_without_a_word_may_be_one_for_websocket() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let _client = Client::of::<Contest>(config(&server.address()));
    drop(soon("a connection", server.accept()).await);
    log.shows("closed the connection without a word (if this port speaks WebSocket, `address` must begin with ws://)")
        .await;
}

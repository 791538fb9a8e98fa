//! Ports of the other kind: WebSocket spoken to by TCP, and the reverse.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use zeitnot_clients::{
    ProtocolError,
    contest::{Config, Contest, Timeouts},
};
use zeitnot_testing::soon;

use crate::support::{
    arena::{By, TestArena},
    contest_server::{Client, Server, Transport, config},
    log::Log,
};

/// Expects that a client of this address gives up, and says this.
async fn refused(address: &str, what: &str, advice: &str) {
    refused_by(config(address), what, advice).await;
}

/// The same of a client with this configuration.
async fn refused_by(config: Config, what: &str, advice: &str) {
    let address = config.address.to_string();
    let error = Client::of::<Contest>(config).result().await.unwrap_err();
    let ProtocolError::Refused { server, .. } = &error;
    let told = error.to_string();
    assert!(*server == address && told.contains(what) && told.contains(advice), "{told}");
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

/// The WebSocket port of the original server (autobahn) waits for the end of a request's header.
#[test]
async fn a_server_that_waits_for_the_rest_of_a_request_is_known_as_well() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = config(&format!("tcp://{}", listener.local_addr().unwrap()));
    config.timeouts.probe = Duration::from_millis(10);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            heard.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 405 HTTP method 'JOIN' not allowed\r\n\r\n").await.unwrap();
        (stream, heard)
    });
    refused_by(config, "HTTP/1.1 405", "ws://host:port").await;
    assert!(server.await.unwrap().1.starts_with(b"JOIN class alice\n"));
}

/// The original server says nothing to the first player.
#[test(start_paused = true)]
async fn a_server_that_does_not_answer_is_waited_for_after_a_warning() {
    for transport in [Transport::Tcp, Transport::Ws] {
        let log = Log::capture();
        let server = Server::start(transport).await;
        let mut config = config(&server.address());
        let Timeouts { probe, join, .. } = Timeouts::default();
        (config.timeouts.probe, config.timeouts.join) = (probe, join);
        let mut client = Client::of::<Contest>(config);
        let mut wire = server.accept().await;
        wire.expect("JOIN class alice").await;
        log.shows("no answer to JOIN within 5 s; some servers are silent until another player comes").await;
        wire.begin("g1").await;
        assert_eq!(client.game().await.info.id, "g1");
        assert_eq!(log.count("no answer to JOIN"), 1, "{}", log.text());
    }
}

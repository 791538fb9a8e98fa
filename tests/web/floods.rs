//! Floods of requests and connections: bounded for each visitor, whom nobody else pays for.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{connect_async, tungstenite::client::IntoClientRequest};
use zeitnot_testing::soon;

use crate::support::{
    arena::TestArena,
    storage::Storage,
    web::{Spectator, with_page},
};

/// Sends this many requests over one connection at once; returns the statuses.
async fn pipeline(address: SocketAddr, requests: usize) -> Vec<String> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /api/status HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let last = format!("GET /api/status HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all((request.repeat(requests - 1) + &last).as_bytes()).await.unwrap();
    let mut answers = String::new();
    soon("the answers", stream.read_to_string(&mut answers)).await.unwrap();
    let heads = answers.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
async fn requests_beyond_the_ration_wait() {
    let (arena, browser) = with_page("").await;
    let since = Instant::now();
    let floods = (0..50).map(|_| pipeline(browser.address, 14));
    let statuses = join_all(floods).await.concat();
    assert_eq!(statuses, vec!["200"; 700]);
    // 400 at once, then 200 a second.
    assert!(since.elapsed() >= Duration::from_millis(1400), "{:?}", since.elapsed());
    arena.stop().await;
}

/// A live WebSocket of a visitor of the proxy.
async fn visit(address: SocketAddr, visitor: &str) -> Spectator {
    let mut request = format!("ws://{address}/api/live").into_client_request().unwrap();
    request.headers_mut().insert("x-forwarded-for", visitor.parse().unwrap());
    Spectator(soon("a WebSocket", connect_async(request)).await.unwrap().0)
}

#[test]
async fn behind_a_proxy_a_visitor_with_many_connections_takes_nobody_elses_place() {
    let text = "games = '{folder}/games'\n\
        [web]\nlisten = '127.0.0.1:0'\nbehind_proxy = true\nmax_connections = 4\n";
    let arena = TestArena::open(Storage::file(), text).await;
    let address = arena.web.unwrap();
    let mut honest = visit(address, "10.0.0.1").await;
    let mut greedy = Vec::new();
    for _ in 0..8 {
        greedy.push(visit(address, "10.0.0.2").await);
    }
    for client in &mut greedy[..5] {
        assert_eq!(client.next().await, None, "the oldest made room");
    }
    for client in greedy[5..].iter_mut().chain([&mut honest]) {
        client.send(r#"{"ping":1}"#).await;
        assert_eq!(client.next().await.unwrap()["type"], "pong");
    }
    arena.stop().await;
}

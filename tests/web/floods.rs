//! Floods of requests and connections: bounded for each visitor, whom nobody else pays for.

use std::{
    net::SocketAddr,
    path::Path,
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
    arena::{Player, TestArena, begin},
    program::Program,
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

/// `zeitnot arena` after a command of the shell, with the addresses for players and for browsers.
async fn arena_after(shell: &str, folder: &Path) -> (Program, SocketAddr, SocketAddr) {
    let text = format!(
        "[arena]\ntcp = '127.0.0.1:0'\ngames = '{}'\n[arena.web]\nlisten = '127.0.0.1:0'\n\
         [[arena.tournament]]\nname = 'class'\ntime = '60'\npairing_interval = '20ms'\n",
        folder.display()
    );
    let arena = Program::arena_after(shell, folder, &text);
    let mut addresses = Vec::new();
    for scheme in ["tcp://", "http://"] {
        let line = arena.tells(&format!("listening on {scheme}")).await;
        let address = line.split(scheme).nth(1).unwrap().split(' ').next().unwrap();
        addresses.push(address.parse().unwrap());
    }
    (arena, addresses[0], addresses[1])
}

#[cfg(target_os = "linux")]
#[test]
async fn the_arena_may_open_as_many_files_as_its_user_allows() {
    let folder = tempfile::tempdir().unwrap();
    let (arena, ..) = arena_after("ulimit -Sn 256 && ulimit -Hn 700", folder.path()).await;
    assert_eq!(arena.open_files(), Some(700));
    arena.tells("the page takes 350 connections instead of 1024").await;
    arena.kill().await;
}

#[test]
async fn idle_connections_to_the_page_leave_room_for_games() {
    let folder = tempfile::tempdir().unwrap();
    let (arena, tcp, page) = arena_after("ulimit -n 256", folder.path()).await;
    let mut idle = Vec::new();
    for _ in 0..300 {
        idle.push(TcpStream::connect(page).await.unwrap());
    }
    let mut alice = Player::at(tcp, "alice").await;
    let mut bob = Player::at(tcp, "bob").await;
    begin(&mut alice, &mut bob).await;
    alice.expect("GAME_STARTED").await;
    // The page is there, too.
    assert_eq!(pipeline(page, 1).await, ["200"]);
    assert!(!arena.warnings().iter().any(|line| line.contains("cannot accept")), "{:?}", arena.told());
    arena.kill().await;
}

//! Bytes that no client should send, and clients that do not read.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpSocket, TcpStream},
    time::{advance, pause, resume, timeout},
};
use zeitnot_testing::{as_time_passes, soon, until};

use crate::support::arena::{By, TestArena, word};

/// Reads everything until the close.
async fn hear(mut socket: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset is a close, too.
    let _ = soon("a close", socket.read_to_end(&mut bytes)).await;
    String::from_utf8(bytes).unwrap()
}

/// Reads up to this line.
async fn hear_until(socket: &mut TcpStream, last: &str) -> Vec<String> {
    let mut lines = BufReader::new(socket).lines();
    let mut heard = Vec::new();
    while heard.last().is_none_or(|line| line != last) {
        heard.push(soon("a line", lines.next_line()).await.unwrap().expect("no close"));
    }
    heard
}

/// Checks that another player can join and talk, and stops the arena.
async fn is_well(arena: TestArena) {
    let mut player = arena.join(By::Tcp, "well").await;
    player.send("SAY well I am").await;
    player.expect("SAID well I am").await;
    arena.stop().await;
}

#[test]
async fn a_line_of_ten_mebibytes_is_skipped() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    let flood = vec![b'x'; 10 << 20];
    let mut later = arena.raw(By::Tcp).await;
    let _ = socket.write_all(&flood).await;
    assert_eq!(hear(socket).await, "INFO Cannot read this: a line longer than 4096 bytes\n");

    later.write_all(b"JOIN class alice\n").await.unwrap();
    later.write_all(&flood).await.unwrap();
    later.write_all(b"\nSAY alice still here\n").await.unwrap();
    let heard = hear_until(&mut later, "SAID alice still here").await;
    assert_eq!(heard[1], "INFO Cannot read this: a line longer than 4096 bytes");
    drop(later);
    is_well(arena).await;
}

#[test]
async fn bytes_that_are_not_text_are_skipped() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    socket
        .write_all(b"JOIN class alice\n\xff\xfe\n\0\nSAY alice still\x1b[2J here\nDISCONNECT\n")
        .await
        .unwrap();
    let heard = hear(socket).await;
    let lines: Vec<_> = heard.lines().collect();
    assert_eq!(lines[1], "INFO Cannot read this: a line that is not UTF-8");
    assert!(lines[2].starts_with("INFO Cannot read this: unknown message"), "{heard}");
    assert_eq!(lines[3], "SAID alice still[2J here");
    is_well(arena).await;
}

#[test]
async fn the_tenth_invalid_line_ends_the_connection() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    socket.write_all(b"JOIN class alice\n").await.unwrap();
    socket.write_all("NONSENSE\n".repeat(100).as_bytes()).await.unwrap();
    assert_eq!(hear(socket).await.lines().count(), 1 + 10);
    is_well(arena).await;
}

#[test]
async fn half_a_line_before_a_close_is_not_read() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4").await;
    board.black.expect("YOUR_MOVE").await;
    let mut half = arena.raw(By::Tcp).await;
    half.write_all(b"JOIN class mall").await.unwrap();
    half.shutdown().await.unwrap();
    assert_eq!(hear(half).await, "");
    drop(board.black);
    assert!(board.white.expect("GAME_OVER").await.ends_with("1-0 Resignation by disconnect"));
    is_well(arena).await;
}

#[test]
async fn half_a_move_before_a_close_is_not_played() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let paired = {
        let mut bob = arena.raw(By::Tcp).await;
        bob.write_all(b"JOIN class bob\n").await.unwrap();
        let paired = alice.expect("GAME_PAIRED").await;
        let game = word(&paired, 1);
        alice.send(&format!("ACK {game}")).await;
        bob.write_all(format!("ACK {game}\n").as_bytes()).await.unwrap();
        alice.expect("YOUR_MOVE").await;
        alice.send(&format!("MOVE {game} e2-e4")).await;
        alice.expect("PLAYER_MOVED").await;
        bob.write_all(format!("MOVE {game} e7-e5").as_bytes()).await.unwrap();
        paired
    };
    let over = alice.expect("GAME_OVER").await;
    assert_eq!(over, format!("GAME_OVER {} 1-0 Resignation by disconnect", word(&paired, 1)));
    is_well(arena).await;
}

#[test]
async fn a_websocket_message_that_is_too_long_ends_the_connection_only() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::WebSocket, "alice").await;
    let _ = alice.writer.send(&"x".repeat(100_000)).await;
    alice.rest().await;
    is_well(arena).await;
}

#[test]
async fn plain_tcp_on_the_websocket_port_is_refused() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::WebSocket).await;
    socket.write_all(b"JOIN class alice\n\n\n").await.unwrap();
    assert!(!hear(socket).await.contains("INFO"));
    is_well(arena).await;
}

/// The text of an HTTP request, which any page can make a browser send, is not obeyed, also behind a line that is.
#[test]
async fn an_http_request_ends_the_connection() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    alice.expect("INFO").await;
    for first in ["", "JOIN class bob\n"] {
        let mut socket = arena.raw(By::Tcp).await;
        let request =
            format!("{first}POST / HTTP/1.1\r\nHost: arena\r\n\r\nJOIN class eve\nSAY alice hello\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let heard = hear(socket).await;
        let last = heard.lines().last().unwrap();
        assert!(last.starts_with("INFO This port takes lines of text over TCP"), "{heard}");
    }
    alice.send("DISCONNECT").await;
    let heard = alice.rest().await;
    assert!(!heard.iter().any(|line| line.contains("SAID") || line.contains("eve")), "{heard:?}");
    is_well(arena).await;
}

#[test]
async fn a_browser_on_another_sites_page_is_refused() {
    let arena = TestArena::start("").await;
    let address = arena.authority(By::WebSocket);
    for (headers, status) in [
        (format!("Host: {address}\r\n"), "101 Switching Protocols"),
        // The arena's page has another port.
        (format!("Host: {address}\r\nOrigin: http://127.0.0.1:8080\r\n"), "101 Switching Protocols"),
        (format!("Host: {address}\r\nOrigin: https://evil.example\r\n"), "403 Forbidden"),
        ("Host: evil.example\r\nOrigin: http://evil.example\r\n".to_owned(), "403 Forbidden"),
        (format!("Host: {address}\r\nOrigin: null\r\n"), "403 Forbidden"),
        (format!("Host: {address}\r\nHost: evil.example\r\n"), "400 Bad Request"),
    ] {
        let mut socket = arena.raw(By::WebSocket).await;
        let handshake = format!(
            "GET / HTTP/1.1\r\n{headers}Connection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        socket.write_all(handshake.as_bytes()).await.unwrap();
        let told = hear_until(&mut socket, "").await;
        assert_eq!(told[0], format!("HTTP/1.1 {status}"), "{headers}");
    }
    is_well(arena).await;
}

/// The writer's thread keeps simulated time from running by itself, so it is advanced here.
#[test(start_paused = true)]
async fn silent_connections_are_closed() {
    let arena = TestArena::start("").await;
    let late = "INFO No JOIN or WATCH came in time\n";
    let unknown = format!("INFO No game x is being played\n{late}");
    for (by, first, last_words) in
        [(By::Tcp, "", late), (By::Tcp, "WATCH x\n", &unknown), (By::WebSocket, "", "")]
    {
        let mut heard = String::new();
        let mut socket = arena.raw(by).await;
        socket.write_all(first.as_bytes()).await.unwrap();
        let close = timeout(Duration::from_secs(60), socket.read_to_string(&mut heard));
        as_time_passes(close).await.unwrap_or_else(|_| panic!("{by:?} is not closed")).unwrap();
        assert_eq!(heard, last_words, "{by:?}");
    }
    arena.stop().await;
}

#[test]
async fn a_player_who_does_not_read_is_disconnected() {
    let arena = TestArena::start("time = '600+0'").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut deaf = socket.connect(arena.authority(By::Tcp)).await.unwrap();
    deaf.write_all(b"JOIN class deaf\n").await.unwrap();
    let paired = alice.expect("GAME_PAIRED").await;
    let game = word(&paired, 1);
    alice.send(&format!("ACK {game}")).await;
    deaf.write_all(format!("ACK {game}\n").as_bytes()).await.unwrap();
    let flood = async {
        let questions = format!("WATCH {game}\n").repeat(1000);
        while deaf.write_all(questions.as_bytes()).await.is_ok() {}
    };
    pause();
    as_time_passes(flood).await;
    resume();
    let over = alice.expect("GAME_OVER").await;
    assert!(over.ends_with("Resignation by disconnect"), "{over}");
    is_well(arena).await;
}

#[test]
async fn silent_connections_shut_nobody_out() {
    let arena = TestArena::with("max_connections = 2", "").await;
    let mut silent = Vec::new();
    for by in [By::Tcp, By::WebSocket].repeat(100) {
        silent.push(arena.raw(by).await);
    }
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5").await;
    // Spectators take no place of a player either.
    for _ in 0..70 {
        let mut watcher = arena.connect(By::Tcp).await;
        watcher.send(&format!("WATCH {}", board.game)).await;
        watcher.expect("GAME_STATE").await;
        silent.push(arena.raw(By::Tcp).await);
    }
    board.play("g2-g4 d8-h4").await;
    assert_eq!(board.over().await, "0-1 Checkmate");
    assert_eq!(hear(silent.remove(0)).await, "", "the oldest has made room");
    arena.stop().await;
}

#[test]
async fn one_address_has_a_share_of_the_players_places() {
    let arena = TestArena::with("max_connections_per_address = 2", "").await;
    let _alice = arena.join(By::Tcp, "alice").await;
    let _bob = arena.join(By::Tcp, "bob").await;
    let mut carol = arena.join(By::Tcp, "carol").await;
    assert_eq!(
        carol.rest().await,
        ["INFO Too many players are connected from your address, try again later"]
    );
    let mut dave = arena.join_from([127, 0, 0, 2], "dave").await;
    dave.send("SAY dave here").await;
    dave.expect("SAID dave here").await;
    arena.stop().await;
}

#[test]
async fn a_flood_of_chat_costs_a_player_who_thinks_nothing() {
    let arena = TestArena::start("time = '600+0'").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    pause();
    let flood = format!("SAY {} {}\n", board.white.name, "x".repeat(4000)).repeat(100);
    for _ in 0..100 {
        // White thinks for five minutes and reads nothing.
        as_time_passes(board.black.writer.send_text(&flood)).await.unwrap();
        while let Some(Ok(Some(_))) = board.black.reader.next().now_or_never() {}
        advance(Duration::from_secs(3)).await;
    }
    resume();
    board.white.send(&format!("MOVE {} e2-e4", board.game)).await;
    let heard = board.white.until("PLAYER_MOVED").await;
    let said: Vec<_> = heard.iter().filter(|line| line.starts_with("SAID")).collect();
    assert!((20..600).contains(&said.len()) && said.iter().all(|line| line.len() < 400), "{}", said.len());
    arena.stop().await;
}

#[test]
async fn of_many_who_talk_to_one_player_some_are_heard() {
    let arena = TestArena::start("players = 20").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    for number in 0..8 {
        let mut other = arena.join(By::Tcp, &format!("other-{number}")).await;
        for _ in 0..10 {
            other.send("SAY alice hello").await;
            other.expect("SAID").await;
        }
    }
    alice.send("DISCONNECT").await;
    let said = alice.rest().await.iter().filter(|line| line.starts_with("SAID")).count();
    assert!((10..60).contains(&said), "{said} of 80");
    arena.stop().await;
}

#[test]
async fn connections_beyond_the_limit_are_refused_until_a_place_is_free() {
    let arena = TestArena::with("max_connections = 2", "").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let bob = arena.join(By::WebSocket, "bob").await;
    alice.expect("INFO Player bob joined").await;
    for by in [By::Tcp, By::WebSocket] {
        let mut carol = arena.join(by, "carol").await;
        assert_eq!(carol.rest().await, ["INFO The arena is full, try again later"]);
    }
    drop((alice, bob));
    // The places are free again as soon as the arena has seen them leave.
    until("a free place", async || {
        let mut dave = arena.join(By::Tcp, "dave").await;
        dave.next().await.is_some_and(|line| line.starts_with("INFO You joined"))
    })
    .await;
    is_well(arena).await;
}

//! Bytes that no client should send, and clients that do not read.

use std::{pin::pin, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpSocket, TcpStream},
    time::advance,
};

use crate::support::{
    arena::{By, TestArena, word},
    wait::{soon, until},
};

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

#[tokio::test]
async fn a_line_of_ten_mebibytes_is_skipped() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    let (flood, mut later) = (vec![b'x'; 10 << 20], arena.raw(By::Tcp).await);
    let _ = socket.write_all(&flood).await;
    assert_eq!(hear(socket).await, "INFO Cannot read this: a line longer than 4096 bytes\n");

    later.write_all(b"JOIN class alice\n").await.unwrap();
    later.write_all(&flood).await.unwrap();
    later.write_all(b"\nSAY alice still here\n").await.unwrap();
    let heard = hear_until(&mut later, "SAID alice still here").await;
    assert_eq!(heard[0], "INFO Cannot read this: a line longer than 4096 bytes");
    drop(later);
    is_well(arena).await;
}

#[tokio::test]
async fn bytes_that_are_not_text_are_skipped() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    socket
        .write_all(b"JOIN class alice\n\xff\xfe\n\0\nSAY alice still\x1b[2J here\nDISCONNECT\n")
        .await
        .unwrap();
    let heard = hear(socket).await;
    let lines: Vec<_> = heard.lines().collect();
    assert_eq!(lines[0], "INFO Cannot read this: a line that is not UTF-8");
    assert!(lines[1].starts_with("INFO Cannot read this: unknown message"), "{heard}");
    assert_eq!(lines[2], "SAID alice still[2J here");
    is_well(arena).await;
}

#[tokio::test]
async fn the_tenth_invalid_line_ends_the_connection() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::Tcp).await;
    socket.write_all(b"JOIN class alice\n").await.unwrap();
    socket.write_all("NONSENSE\n".repeat(100).as_bytes()).await.unwrap();
    assert_eq!(hear(socket).await.lines().count(), 10);
    is_well(arena).await;
}

#[tokio::test]
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

#[tokio::test]
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

#[tokio::test]
async fn a_websocket_message_that_is_too_long_ends_the_connection_only() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::WebSocket, "alice").await;
    let _ = alice.writer.send(&"x".repeat(100_000)).await;
    alice.rest().await;
    is_well(arena).await;
}

#[tokio::test]
async fn plain_tcp_on_the_websocket_port_is_refused() {
    let arena = TestArena::start("").await;
    let mut socket = arena.raw(By::WebSocket).await;
    socket.write_all(b"JOIN class alice\n\n\n").await.unwrap();
    assert!(!hear(socket).await.contains("INFO"));
    is_well(arena).await;
}

/// The writer's thread keeps simulated time from running by itself, so it is advanced here.
#[tokio::test(start_paused = true)]
async fn silent_connections_are_closed() {
    let arena = TestArena::start("").await;
    for (by, last_words) in [(By::Tcp, "INFO No JOIN or WATCH came in time\n"), (By::WebSocket, "")] {
        let (mut socket, mut heard) = (arena.raw(by).await, String::new());
        let mut close = pin!(socket.read_to_string(&mut heard));
        while futures_util::poll!(&mut close).is_pending() {
            advance(Duration::from_millis(100)).await;
        }
        assert_eq!(heard, last_words, "{by:?}");
    }
    arena.stop().await;
}

#[tokio::test]
async fn a_player_who_does_not_read_is_disconnected() {
    let arena = TestArena::start("").await;
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
    let (over, ()) = tokio::join!(alice.expect("GAME_OVER"), flood);
    assert!(over.ends_with("Resignation by disconnect"), "{over}");
    is_well(arena).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_refused_until_a_place_is_free() {
    let arena = TestArena::with("max_connections = 2", "").await;
    let (mut alice, bob) = (arena.join(By::Tcp, "alice").await, arena.join(By::WebSocket, "bob").await);
    alice.expect("INFO Player bob joined").await;
    for by in [By::Tcp, By::WebSocket] {
        let mut carol = arena.join(by, "carol").await;
        assert_eq!(carol.rest().await, ["INFO The arena is full, try again later"]);
    }
    drop((alice, bob));
    // The places are free again as soon as the arena has seen them leave.
    until("a free place", async || {
        let mut dave = arena.join(By::Tcp, "dave").await;
        let _ = dave.writer.send("SAY dave here").await;
        dave.next().await.is_some_and(|line| line == "SAID dave here")
    })
    .await;
    is_well(arena).await;
}

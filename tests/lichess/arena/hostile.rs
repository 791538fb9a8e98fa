//! Hostile input to the arena's Bot API: none of it stops the arena or costs others their game.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    runtime::Handle,
    time::Instant,
};
use zeitnot_testing::soon;

use crate::support::lichess_arena::{Lichess, play};

const BLITZ: &str = "clock.limit=180&clock.increment=2";

/// Sends bytes, and returns the answer.
async fn send(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = soon("an answer", stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
async fn odd_bytes_are_refused() {
    let lichess = Lichess::start("").await;
    let id = lichess.game(BLITZ).await;
    let mut watched = lichess.bot("bob").watch(&id).await;
    let auth = "Host: x\r\nAuthorization: Bearer lip_alice\r\nConnection: close\r\n";
    let request = |method: &str, path: &str, body: &[u8]| {
        let head = format!("{method} {path} HTTP/1.1\r\n{auth}Content-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let mut deep = b"{\"rated\":".to_vec();
    deep.extend(b"[".repeat(30_000));
    let same = "clock.limit=60&".repeat(2000);
    let chat = format!("/api/bot/game/{id}/chat");
    for (method, path, body, expected) in [
        ("BREW", "/api/account", &b""[..], "404"),
        ("TRACE", "/api/account", b"", "404"),
        ("HEAD", "/api/account", b"", "404"),
        ("DELETE", "/api/account", b"", "404"),
        ("PUT", "/api/challenge/bob", b"", "404"),
        ("GET", "/api/../api/account", b"", "404"),
        ("GET", "/api/user/%2e%2e%2f%2e%2e", b"", "404"),
        ("GET", "/api/user/bob%00", b"", "404"),
        ("GET", "/api/bot/game/stream/../../etc", b"", "404"),
        ("GET", "/game/export/../../../etc/passwd", b"", "404"),
        ("GET", "/api/user/%ff%fe", b"", "404"),
        ("POST", "/api/challenge/bob", b"\xff\xfe\x00=\xff&clock.limit=%ff", "400"),
        ("POST", "/api/challenge/bob", b"clock.limit=99999999999999999999999", "400"),
        ("POST", "/api/challenge/bob", b"clock.limit=-60", "400"),
        (
            "POST",
            "/api/challenge/bob",
            b"clock.limit=18446744073709551615&clock.increment=18446744073709551615",
            "400",
        ),
        ("POST", "/api/challenge/bob", &deep, "400"),
        ("POST", "/api/challenge/bob", b"days=4294967295", "400"),
        ("POST", "/api/challenge/bob", b"fen=8/8/8/8/8/8/8/8+w+-+-+0+1&clock.limit=60", "400"),
        ("POST", "/api/challenge/bob", b"fen=kkkkkkkk/8/8/8/8/8/8/KKKKKKKK+w+-+-+0+1&clock.limit=60", "400"),
        ("POST", "/api/challenge/bob", same.as_bytes(), "200"),
        ("POST", &chat, b"room=player", "400"),
        ("POST", &chat, b"text=%00%1b%5b2J%ff&room=player", "200"),
        ("GET", "/api/account/playing?nb=-1", b"", "200"),
        ("GET", "/api/bot/online?nb=99999999999999999999", b"", "200"),
        ("GET", "/api/users/status?ids=%ff,,,,alice,%00", b"", "200"),
    ] {
        let answer = send(lichess.address, &request(method, path, body)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{method} {path}: {answer}");
    }
    let long = "x".repeat(100_000);
    for (bytes, expected) in [
        (
            "\r\n\r\nGET //api//account// HTTP/1.1\r\nHost: x\r\nAuthorization: bearer lip_alice\r\nConnection: close\r\n\r\n",
            "200",
        ),
        (
            "GET /api/account HTTP/1.1\r\nHost: x\r\nAuthorization: Basic lip_alice\r\nConnection: close\r\n\r\n",
            "401",
        ),
        ("nonsense\r\n\r\n", "400"),
        (&format!("GET /{long} HTTP/1.1\r\n\r\n"), "4"),
    ] {
        let answer = send(lichess.address, bytes.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{expected}: {answer}");
    }
    let huge = vec![b'x'; 3_000_000];
    for path in ["/api/token/test", "/api/users", "/api/challenge/bob"] {
        let answer = send(lichess.address, &request("POST", path, &huge)).await;
        // It may close before all of that is sent.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
    }
    let line = watched.expect("chatLine").await["text"].clone();
    assert!(line.as_str().unwrap().chars().all(|c| !c.is_control()), "{line}");
    drop(watched);
    lichess.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn one_connection_serves_several_requests_and_a_stream() {
    let lichess = Lichess::start("").await;
    let mut stream = TcpStream::connect(lichess.address).await.unwrap();
    for path in ["account", "account", "stream/event"] {
        let request = format!("GET /api/{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer lip_bob\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 8192];
        let length = soon("an answer", stream.read(&mut answer)).await.unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200 OK\r\n"));
    }
    lichess.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn clocks_without_end_are_refused_and_the_arena_lives_on() {
    let lichess = Lichess::start("clocks = 'any'").await;
    let alice = lichess.bot("alice");
    for (limit, increment) in
        [("60", "9223372036854775807"), ("9223372036854775807", "0"), ("60", "181"), ("10801", "0")]
    {
        let form = format!("clock.limit={limit}&clock.increment={increment}");
        assert_eq!(alice.refused("/api/challenge/bob", &form).await.0, 400, "{form}");
    }
    let id = lichess.game("clock.limit=10800&clock.increment=180").await;
    play(&alice, &lichess.bot("bob"), &id, "e2e4 e7e5 g1f3").await;
    lichess.stop().await;
}

#[test]
async fn nobody_challenges_without_a_token() {
    let lichess = Lichess::start("").await;
    let nobody = lichess.nobody();
    for path in ["/api/challenge/open", "/api/challenge/bob"] {
        assert_eq!(nobody.refused(path, BLITZ).await.0, 401, "{path}");
    }
    assert_eq!(nobody.get("/api/challenge/open").await.0, 404);
    lichess.stop().await;
}

/// Connections of strangers, more than there are places: they are closed in turn, and a game begins and goes on.
#[test]
async fn silent_connections_shut_nobody_out() {
    let lichess = Lichess::start("").await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(lichess.address).await.unwrap());
    }
    let id = lichess.game(BLITZ).await;
    play(&lichess.bot("alice"), &lichess.bot("bob"), &id, "e2e4 e7e5 g1f3").await;
    assert_eq!(lichess.nobody().get("/api/user/bob").await.0, 200);
    lichess.stop().await;
}

#[test]
async fn an_account_has_a_quarter_of_the_connections() {
    let lichess = Lichess::start("").await;
    let request =
        "GET /api/users/status?ids=bob HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer lip_alice\r\n\r\n";
    let mut connections = Vec::new();
    for number in 1..=65 {
        let mut stream = TcpStream::connect(lichess.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        soon("an answer", stream.read_exact(&mut answer)).await.unwrap();
        let expected = if number <= 64 { b"HTTP/1.1 200" } else { b"HTTP/1.1 503" };
        assert_eq!(&answer, expected, "{number}");
        connections.push(stream);
    }
    assert_eq!(lichess.bot("bob").get("/api/account").await.0, 200);
    drop(connections);
    lichess.stop().await;
}

/// Many who begin a request and never end it, and one who sends a thousand: the game goes on meanwhile.
#[test]
async fn a_flood_holds_up_no_game() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game(BLITZ).await;
    let mut halves = Vec::new();
    for half in
        ["GET /api/acc", "POST /api/challenge/bob HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nclock"]
    {
        for _ in 0..30 {
            let mut stream = TcpStream::connect(lichess.address).await.unwrap();
            stream.write_all(half.as_bytes()).await.unwrap();
            halves.push(stream);
        }
    }
    const MANY: usize = 1000;
    let address = lichess.address;
    let flood = tokio::spawn(async move {
        let began = Instant::now();
        let stream = TcpStream::connect(address).await.unwrap();
        let (read, mut write) = stream.into_split();
        let request = b"GET /api/users/status?ids=alice,bob HTTP/1.1\r\nHost: x\r\n\r\n";
        let writing = tokio::spawn(async move {
            for _ in 0..MANY / 100 {
                write.write_all(&request.repeat(100)).await.unwrap();
            }
            write
        });
        let mut read = BufReader::new(read);
        let mut answered = 0;
        let mut chunk = vec![0; 65_536];
        let mut tail = Vec::new();
        while answered < MANY {
            let length = soon("it ends", read.read(&mut chunk)).await.unwrap();
            assert!(length > 0, "closed after {answered}");
            tail.extend_from_slice(&chunk[..length]);
            answered += count(&tail, b"HTTP/1.1 200");
            // What may be the beginning of the next one is kept.
            let kept = tail.len().saturating_sub(b"HTTP/1.1 200".len() - 1);
            tail.drain(..kept);
        }
        writing.await.unwrap();
        (answered, began.elapsed())
    });
    let since = Instant::now();
    play(&alice, &bob, &id, "e2e4 e7e5 g1f3 b8c6").await;
    // As long as these wait, so do others from the same address.
    drop(halves);
    play(&alice, &bob, &id, "f1b5 a7a6 b5a4 g8f6 e1g1 f8e7").await;
    let took = since.elapsed();
    assert!(took < Duration::from_secs(5), "ten moves took {took:?}");
    let (answered, took) = flood.await.unwrap();
    assert_eq!(answered, MANY);
    // A hundred at once, and one every two milliseconds.
    assert!(took >= Duration::from_millis(1800), "{took:?}");
    lichess.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

fn count(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).filter(|window| *window == needle).count()
}

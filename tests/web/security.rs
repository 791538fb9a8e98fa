//! Protection of the page: other hosts, other origins, the organiser's token, headers and limits.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use zeitnot_testing::soon;

use crate::support::{
    arena::TestArena,
    storage::Storage,
    web::{TOKEN, with_page},
};

#[test]
async fn foreign_hosts_and_pages_are_refused() {
    let (arena, browser) = with_page("").await;
    let own = format!("http://{}", browser.address);
    let status = async |headers: &[(&str, &str)]| {
        browser.ask("GET", "/api/live", headers, Vec::new()).await.status().as_u16()
    };
    let socket = [("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")];
    let key = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let with = |origin| [socket.as_slice(), &[key, ("origin", origin)]].concat();
    assert_eq!(status(&with(&own)).await, 101);
    assert_eq!(status(&with("https://evil.example")).await, 403);
    assert_eq!(status(&socket).await, 426, "without a key");
    assert_eq!(browser.ask("GET", "/", &[("host", "evil.example")], Vec::new()).await.status(), 421);
    let post = browser.ask("POST", "/api/status", &[("origin", "https://evil.example")], Vec::new()).await;
    assert_eq!(post.status(), 403);
    arena.stop().await;
}

#[test]
async fn a_request_with_two_hosts_is_refused_on_every_port() {
    let text = "games = '{folder}/games'\n[web]\nlisten = '127.0.0.1:0'\n[lichess]\nlisten = '127.0.0.1:0'\n";
    let arena = TestArena::open(Storage::file(), text).await;
    for port in [arena.web, arena.lichess] {
        let mut socket = TcpStream::connect(port.unwrap()).await.unwrap();
        let request =
            b"GET /api HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
        socket.write_all(request).await.unwrap();
        let mut answer = String::new();
        soon("an answer", socket.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
        assert!(
            answer.ends_with(r#"{"error":"the request has several Host headers: send one"}"#),
            "{answer}"
        );
    }
    arena.stop().await;
}

#[test]
async fn the_organiser_is_known_by_the_token() {
    let (arena, browser) = with_page("").await;
    let began = Instant::now();
    let asked = async |token: &str| {
        let header = format!("Bearer {token}");
        let answer = browser.ask("GET", "/api/status", &[("authorization", &header)], Vec::new()).await;
        serde_json::from_str::<serde_json::Value>(&answer.text().await.unwrap()).unwrap()["organiser"].clone()
    };
    assert_eq!((asked(TOKEN).await, asked("guess").await), (json!(true), json!(false)));
    assert_eq!(browser.json("/api/status").await.1["organiser"], json!(false));
    for guess in 0..20 {
        asked(&guess.to_string()).await;
    }
    assert_eq!(asked(TOKEN).await, json!(true), "somebody else at the same address may have guessed");
    let header = [("authorization", "Bearer guess2")];
    let refused = browser.ask("POST", "/api/tournaments/class/start", &header, Vec::new()).await;
    // A slow machine has earned another guess meanwhile.
    assert!(refused.status() == 429 || began.elapsed() > Duration::from_secs(6), "{}", refused.status());
    arena.stop().await;
}

#[test]
async fn the_page_comes_with_its_protection_and_is_kept_by_browsers() {
    let (arena, browser) = with_page("").await;
    for path in ["/", "/game/abc", "/tournament/class/projector", "/table/token"] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status(), 200, "{path}");
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-security-policy").starts_with("default-src 'self'"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        let again = browser.ask("GET", path, &[("if-none-match", &header("etag"))], Vec::new()).await;
        assert_eq!(again.status(), 304);
    }
    let gzip = browser.ask("GET", "/api", &[("accept-encoding", "gzip")], Vec::new()).await;
    assert_eq!(gzip.headers()["content-encoding"], "gzip");
    for (method, path, status) in
        [("GET", "/nothing", 404), ("POST", "/", 405), ("GET", "/../Cargo.toml", 404)]
    {
        assert_eq!(browser.ask(method, path, &[], Vec::new()).await.status(), status, "{method} {path}");
    }
    for (method, path, status) in [
        ("GET", "/api/nothing", 404),
        ("POST", "/api/games", 405),
        ("GET", "/api/games/x", 404),
        ("DELETE", "/api", 405),
    ] {
        let answer = browser.ask(method, path, &[], Vec::new()).await;
        assert_eq!(answer.status(), status, "{method} {path}");
        let error: serde_json::Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert!(error["error"].as_str().is_some_and(|line| !line.is_empty()), "{error}");
    }
    arena.stop().await;
}

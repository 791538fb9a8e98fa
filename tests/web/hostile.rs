//! Random input for every endpoint and message: a clear error, nothing changed, and the server lives on.

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_tungstenite::tungstenite::Message;

use futures_util::SinkExt;

use crate::support::web::{Browser, TOKEN, with_page};

/// Requests for each endpoint and method: together fewer than the connections that one address may open at once.
const REQUESTS: usize = 4;
const MESSAGES: usize = 300;
/// Bytes of a body from which on the server may close instead of reading on.
const MAX_BODY: usize = 16 * 1024;
/// Words that the API knows: random JSON of them is nearly right.
const WORDS: [&str; 16] = [
    "watch",
    "unwatch",
    "ping",
    "game",
    "games",
    "tournament",
    "class",
    "name",
    "result",
    "kind",
    "chess",
    "white",
    "black",
    "move",
    "error",
    "fen",
];

/// Random JSON.
fn value(random: &mut Rng, depth: usize) -> Value {
    let word = WORDS[random.usize(..WORDS.len())];
    match random.usize(..if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(random.i64(..)),
        3 => json!(random.f64() * 1e300),
        4 => json!(word),
        5 => json!(text(random, 40)),
        6 => (0..random.usize(..4)).map(|_| value(random, depth - 1)).collect(),
        _ => {
            let members = (0..random.usize(1..4))
                .map(|_| (WORDS[random.usize(..WORDS.len())].to_owned(), value(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Characters of all kinds.
fn text(random: &mut Rng, max: usize) -> String {
    (0..random.usize(..max)).map(|_| random.char(..)).collect()
}

fn bytes(random: &mut Rng, max: usize) -> Vec<u8> {
    (0..random.usize(..max)).map(|_| random.u8(..)).collect()
}

fn body(random: &mut Rng) -> Vec<u8> {
    match random.usize(..4) {
        0 => Vec::new(),
        1 => bytes(random, 200),
        2 => vec![b'['; random.usize(..70_000)],
        _ => value(random, 3).to_string().into_bytes(),
    }
}

/// A segment of a path, which may have any byte.
fn segment(random: &mut Rng) -> String {
    match random.usize(..3) {
        0 => WORDS[random.usize(..WORDS.len())].to_owned(),
        1 => bytes(random, 60).iter().map(|byte| format!("%{byte:02x}")).collect(),
        _ => format!("{:032x}", random.u128(..)),
    }
}

/// Facts that must stay the same.
async fn facts(browser: &Browser, game: &str) -> [Value; 3] {
    let plies = browser.json(&format!("/api/games/{game}")).await.1["plies"].clone();
    let games = browser.json("/api/games").await.1["games"].clone();
    let ids = games.as_array().unwrap().iter().map(|game| game["id"].clone()).collect();
    [plies, ids, browser.json("/api/tournaments").await.1]
}

#[test]
async fn random_requests_change_nothing() {
    let mut random = Rng::with_seed(14);
    let (arena, browser) = with_page("").await;
    let mut board = arena.game().await;
    board.play("e2-e4").await;
    let mut spectator = browser.live().await;
    spectator.send(r#"{"watch":{"tournament":"class"}}"#).await;
    // What has happened so far is shown within half a second.
    loop {
        let shown = spectator.expect("tournament").await["tournament"].clone();
        if shown["state"] == "running" && shown["players"].as_array().unwrap().len() == 2 {
            break;
        }
    }
    let before = facts(&browser, &board.game).await;
    let document = browser.json("/api").await.1;
    for path in document["paths"].as_object().unwrap().keys() {
        for method in ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "X"] {
            for _ in 0..REQUESTS {
                let mut filled = path.clone();
                while let Some((before, rest)) = filled.split_once('{') {
                    let after = rest.split_once('}').unwrap().1;
                    filled = format!("{before}{}{after}", segment(&mut random));
                }
                // Never the right one: an organiser may change things.
                let token = format!("Bearer {TOKEN}{}", random.alphanumeric());
                let mut headers = vec![("content-type", "application/json")];
                if random.bool() {
                    headers.push(("authorization", &token));
                }
                let sent = body(&mut random);
                let is_large = sent.len() > MAX_BODY;
                let answer = match browser.try_ask(method, &filled, &headers, sent).await {
                    Ok(answer) => answer,
                    // It need not read what is too large.
                    Err(_) if is_large => continue,
                    Err(error) => panic!("{method} {filled}: {error}"),
                };
                let status = answer.status();
                assert!(!status.is_server_error(), "{method} {filled}: {status}");
                let told = answer.bytes().await.unwrap();
                if status.is_client_error() && method != "HEAD" {
                    let error: Value = serde_json::from_slice(&told).unwrap();
                    let line = error["error"].as_str().unwrap_or_default();
                    assert!(!line.is_empty() && !line.contains('\n'), "{method} {filled}: {error}");
                }
            }
        }
    }
    assert_eq!(facts(&browser, &board.game).await, before);
    board.black.expect("YOUR_MOVE").await;
    arena.stop().await;
}

#[test]
async fn random_messages_and_bytes_are_survived() {
    let mut random = Rng::with_seed(41);
    let (arena, browser) = with_page("").await;
    for _ in 0..6 {
        let mut client = browser.live().await;
        for _ in 0..MESSAGES / 6 {
            let message = match random.usize(..4) {
                0 => Message::text(text(&mut random, 1500)),
                1 => Message::binary(bytes(&mut random, 200)),
                _ => Message::text(value(&mut random, 3).to_string()),
            };
            if client.0.send(message).await.is_err() {
                break;
            }
        }
    }
    for _ in 0..40 {
        let mut stream = TcpStream::connect(browser.address).await.unwrap();
        // The server may close in the middle.
        let _ = stream.write_all(&bytes(&mut random, 3000)).await;
    }
    let mut client = browser.live().await;
    client.send(r#"{"ping":3}"#).await;
    assert_eq!(client.next().await.unwrap(), json!({"type": "pong", "ping": 3}));
    assert_eq!(browser.json("/api/status").await.0, 200);
    arena.stop().await;
}

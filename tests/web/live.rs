//! Games and tournaments as spectators see them.

use std::time::{Duration, Instant};

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use zeitnot_testing::until;

use crate::support::{
    arena::word,
    storage::{Storage, on_both_databases},
    web::{with_page, with_page_in},
};

on_both_databases!(a_game_is_seen_from_its_beginning_to_its_end, a_tournament_shows_its_players_and_results);

async fn a_game_is_seen_from_its_beginning_to_its_end(storage: Storage) {
    let (arena, browser) = with_page_in(storage, "").await;
    let mut lists = browser.live().await;
    lists.send(r#"{"watch":"games"}"#).await;
    assert_eq!(lists.expect("games").await, json!({"type": "games", "games": []}));
    let mut board = arena.game().await;
    let id = word(&board.game, 0).to_owned();
    let begun = lists.expect("begin").await["game"].clone();
    assert_eq!(
        (&begun["id"], &begun["source"], &begun["kind"]),
        (&json!(id), &json!("contest"), &json!("chess"))
    );
    assert_eq!(begun["white"]["name"], board.white.name.as_str());
    assert_eq!((&begun["state"], &begun["clocks"]["running"]), (&json!("running"), &json!("white")));

    let mut spectator = browser.live().await;
    spectator.send(&json!({"watch": {"game": id}}).to_string()).await;
    assert_eq!(spectator.expect("game").await["game"]["plies"], json!([]));
    board.play("f2-f3 e7-e5").await;
    for (ply, uci, san) in [(1, "f2f3", "f3"), (2, "e7e5", "e5")] {
        let moved = spectator.expect("move").await;
        assert_eq!((&moved["id"], &moved["ply"]), (&json!(id), &json!(ply)));
        assert_eq!((&moved["move"]["uci"], &moved["move"]["san"]), (&json!(uci), &json!(san)));
        assert_eq!(lists.expect("move").await["ply"], ply);
    }
    let (status, game) = browser.json(&format!("/api/games/{id}")).await;
    assert_eq!((status, game["plies"].as_array().unwrap().len(), &game["ply"]), (200, 2, &json!(2)));
    board.play("g2-g4 d8-h4").await;
    let end = spectator.expect("end").await;
    assert_eq!((&end["result"], &end["reason"]), (&json!("0-1"), &json!("Checkmate")));
    lists.expect("end").await;
    let (_, games) = browser.json("/api/games").await;
    let ended: Vec<&Value> =
        games["games"].as_array().unwrap().iter().filter(|game| game["id"] == id.as_str()).collect();
    assert_eq!((&ended[0]["state"], &ended[0]["result"]), (&json!("ended"), &json!("0-1")));
    let pgn = browser.get(&format!("/api/games/{id}/pgn")).await.text().await.unwrap();
    assert!(pgn.contains("[Result \"0-1\"]") && pgn.contains("2. g4"), "{pgn}");
    arena.stop().await;
    // The close comes after what was to be told.
    while spectator.next().await.is_some() {}
}

async fn a_tournament_shows_its_players_and_results(storage: Storage) {
    let (arena, browser) = with_page_in(storage, "players = 2\ngames_per_pair = 1").await;
    let mut spectator = browser.live().await;
    until("the tournament is known", async || browser.json("/api/tournaments/class").await.0 == 200).await;
    spectator.send(r#"{"watch":{"tournament":"class"}}"#).await;
    let mut shown = spectator.expect("tournament").await["tournament"].clone();
    assert_eq!((&shown["state"], &shown["players"]), (&json!("waiting"), &json!([])));
    assert_eq!(shown["joins"][0]["line"], "JOIN class NAME");
    let mut board = arena.game().await;
    while shown["state"] == "waiting" || shown["pairings"] == json!([]) {
        shown = spectator.expect("tournament").await["tournament"].clone();
    }
    assert_eq!((&shown["state"], &shown["pairings"][0]["result"]), (&json!("running"), &Value::Null));
    board.white.expect("YOUR_MOVE").await;
    board.white.send(&format!("RESIGN {}", board.game)).await;
    while shown["state"] != "complete" {
        shown = spectator.expect("tournament").await["tournament"].clone();
    }
    let leader = &shown["players"][0];
    assert_eq!((&leader["name"], &leader["score"]), (&json!(board.black.name), &json!(1.0)));
    assert_eq!((&leader["rank"], &leader["wins"]), (&json!(1), &json!(1)));
    assert_eq!(shown["pairings"][0]["result"], "0-1");
    let (_, list) = browser.json("/api/tournaments").await;
    assert_eq!(list["tournaments"][0]["name"], "class");
    assert!(list["tournaments"][0].get("pairings").is_none());
    arena.stop().await;
}

#[test]
async fn mistakes_on_the_socket_are_answered_and_the_connection_lives_on() {
    let (arena, browser) = with_page("").await;
    let mut client = browser.live().await;
    for (message, error) in [
        ("hello", "cannot read the message"),
        ("{}", "cannot read the message"),
        (r#"{"watch":"everything"}"#, "cannot read the message"),
        (r#"{"watch":"games","more":1}"#, "cannot read the message"),
        (r#"{"ping":-1}"#, "cannot read the message"),
        (r#"{"watch":{"game":"nothing"}}"#, "there is no game nothing"),
        (r#"{"watch":{"tournament":"nothing"}}"#, "there is no tournament nothing"),
        (&" ".repeat(1025), "1024 bytes"),
    ] {
        client.send(message).await;
        let answer = client.next().await.unwrap();
        assert!(answer["error"].as_str().unwrap().contains(error), "{message}: {answer}");
    }
    client.send(r#"{"ping":7}"#).await;
    assert_eq!(client.next().await.unwrap(), json!({"type": "pong", "ping": 7}));
    tokio::time::timeout(Duration::from_secs(60), arena.stop()).await.unwrap();
    assert_eq!(client.next().await, None);
}

#[test]
async fn a_list_is_sent_again_to_those_who_may_lack_some_of_it() {
    let (arena, browser) = with_page("").await;
    let mut client = browser.live().await;
    let mut answers = async |messages: &[&str]| {
        for message in messages {
            client.send(message).await;
        }
        client.send(r#"{"ping":1}"#).await;
        let mut kinds = Vec::new();
        loop {
            let answer = client.next().await.unwrap();
            if answer["type"] == "pong" {
                return kinds;
            }
            kinds.push(answer["type"].as_str().unwrap().to_owned());
        }
    };
    let watch = r#"{"watch":"games"}"#;
    assert_eq!(answers(&[watch, watch, watch]).await, ["games"]);
    assert_eq!(answers(&[watch]).await, [""; 0]);
    assert_eq!(answers(&[r#"{"unwatch":"games"}"#, watch]).await, ["games"]);
    arena.stop().await;
}

#[test]
async fn pings_of_a_socket_are_rationed() {
    let (arena, browser) = with_page("").await;
    let mut client = browser.live().await;
    let since = Instant::now();
    for _ in 0..50 {
        client.0.send(Message::Ping(Default::default())).await.unwrap();
    }
    client.send(r#"{"ping":1}"#).await;
    client.expect("pong").await;
    // Beyond forty, ten a second.
    assert!(since.elapsed() >= Duration::from_secs(1), "{:?}", since.elapsed());
    arena.stop().await;
}

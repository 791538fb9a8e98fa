//! Berserk, which gives half the clock for a point more: on the arena, and by the client.

use std::time::Duration;

use serde_json::json;
use zeitnot_rules::Color;
use zeitnot_seat::Clocks;

use crate::support::{
    lichess_arena::{self, Bot, Lichess},
    lichess_client::{finish_seated, full, seated, state},
};

/// Two tournaments: in the first berserk is possible. The increments are longer than any machine is slow.
fn tournaments() -> String {
    let mut text = String::new();
    for (id, berserk) in [("abcdefgh", true), ("hgfedcba", false)] {
        text += &format!(
            "[[lichess.tournament]]\nname = '{id}'\nid = '{id}'\ntime = '60+60'\nlasts = '1h'\nberserk = {berserk}\n"
        );
    }
    for name in ["eve", "finn", "gina", "hugo"] {
        text += &format!(
            "[[lichess.account]]\nname = '{name}'\ntoken = 'lip_{name}'\nscopes = ['bot:play', 'tournament:write']\n"
        );
    }
    text
}

/// The first game of these two in this tournament, and who has White and Black.
async fn paired(server: &Lichess, names: [&str; 2], tournament: &str) -> (String, Bot, Bot) {
    let [one, other] = names.map(|name| server.bot(name));
    let (mut events, _seen) = (one.events().await, other.events().await);
    for bot in [&one, &other] {
        bot.ok(&format!("/api/tournament/{tournament}/join")).await;
    }
    let start = events.expect("gameStart").await;
    let id = start["game"]["gameId"].as_str().unwrap().to_owned();
    assert_eq!(start["game"]["tournamentId"], tournament);
    if start["game"]["color"] == "white" { (id, one, other) } else { (id, other, one) }
}

#[test]
async fn the_arena_halves_the_clock_and_takes_the_increment() {
    let server = Lichess::start(&tournaments()).await;
    let (id, white, black) = paired(&server, ["eve", "finn"], "abcdefgh").await;
    let berserk = format!("/api/bot/game/{id}/berserk");
    let mut seen = white.watch(&id).await;
    let state = seen.expect("gameFull").await["state"].clone();
    assert_eq!((&state["wtime"], &state["btime"]), (&json!(60_000), &json!(60_000)));
    white.ok(&berserk).await;
    let state = seen.expect("gameState").await;
    assert_eq!((&state["wtime"], &state["btime"]), (&json!(30_000), &json!(60_000)), "{state}");
    assert_eq!(white.refused(&berserk, "").await.0, 400, "once");
    lichess_arena::play(&white, &black, &id, "e2e4 e7e5").await;
    assert_eq!(black.refused(&berserk, "").await.0, 400, "not after one's first move");
    lichess_arena::play(&white, &black, &id, "g1f3 b8c6").await;
    let state = loop {
        let state = seen.expect("gameState").await;
        if state["moves"] == "e2e4 e7e5 g1f3 b8c6" {
            break state;
        }
    };
    assert!(state["wtime"].as_u64().unwrap() <= 30_000, "{state}");
    assert!(state["btime"].as_u64().unwrap() > 60_000, "{state}");

    let (id, white, _black) = paired(&server, ["gina", "hugo"], "hgfedcba").await;
    let berserk = format!("/api/bot/game/{id}/berserk");
    assert_eq!(white.refused(&berserk, "").await.0, 400, "not in this tournament");
    server.stop().await;
}

fn with_increment(text: &str) -> String {
    text.replace(r#""increment":0"#, r#""increment":2000"#).replace(r#""winc":0"#, r#""winc":2000"#)
}

fn in_tournament(white: bool, moves: &str) -> String {
    let full = with_increment(&full(white, moves));
    full.replace(r#""initialFen""#, r#""tournamentId":"ABCDEFGH","initialFen""#)
}

#[test(start_paused = true)]
async fn we_berserk_before_our_first_move_and_think_without_increment() {
    for is_granted in [true, false] {
        let (mut server, client, game, mut seat) =
            seated("games = 1\nberserk = 'always'", &in_tournament(true, "")).await;
        let (turn, clocks) = seat.asked().await;
        assert_eq!(clocks.unwrap().increment, Duration::ZERO);
        let post = server.hear_game("berserk").await;
        if is_granted {
            post.ok();
            game.line(&with_increment(&state("", "").replace(r#""wtime":2000"#, r#""wtime":1000"#)));
        } else {
            post.answer(400, r#"{"error":"This game is not berserkable"}"#);
        }
        seat.play(turn, "e2e4").await;
        server.take_move().await;
        let left = if is_granted { 1000 } else { 2000 };
        let moved = state("e2e4 e7e5", "").replace(r#""wtime":2000"#, &format!(r#""wtime":{left}"#));
        game.line(&with_increment(&moved));
        seat.sees("e2e4 e7e5").await;
        let (_, clocks) = seat.asked().await;
        let Clocks { increment, left: told, .. } = clocks.unwrap();
        assert_eq!(told[Color::White], Duration::from_millis(left));
        assert_eq!(increment, Duration::from_secs(if is_granted { 0 } else { 2 }));
        server.hears_nothing().await;
        finish_seated(client, game, seat, "e2e4 e7e5").await;
    }
}

#[test(start_paused = true)]
async fn we_berserk_only_where_that_is_possible() {
    for (full, is_due) in [
        (in_tournament(false, "e2e4"), true),
        (in_tournament(true, "e2e4 e7e5"), false),
        (in_tournament(false, "e2e4 e7e5 g1f3"), false),
        (with_increment(&full(true, "")), false),
    ] {
        let (mut server, _client, _game, _seat) = seated("games = 1\nberserk = 'always'", &full).await;
        if is_due {
            server.hear_game("berserk").await.ok();
        }
        server.hears_nothing().await;
    }
}

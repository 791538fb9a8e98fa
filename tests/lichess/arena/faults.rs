//! The arena's Lichess API as a bad server, switched while it runs.

use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::json;

use crate::support::lichess_arena::{Bot, Lichess, play};

const BLITZ: &str = "clock.limit=180&clock.increment=2";
async fn turn(admin: &Bot, faults: &str) {
    let (status, answer) = admin.post("/api/zeitnot/faults", faults).await;
    assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{faults}: {answer}");
}

#[test]
async fn faults_are_switched_amid_a_game() {
    let lichess = Lichess::start("[lichess.faults]\non_demand = true").await;
    let (alice, bob, admin) = (lichess.bot("alice"), lichess.bot("bob"), lichess.admin());
    let mut events = bob.events().await;
    let id = lichess.game(BLITZ).await;
    let mut board = bob.watch(&id).await;
    board.expect("gameFull").await;

    turn(&admin, r#"{"silence": "games"}"#).await;
    alice.play(&id, "e2e4").await;
    events.expect("gameStart").await;
    alice.challenge("bob", BLITZ).await;
    events.expect("challenge").await;
    assert_eq!(board.next().now_or_never(), None, "the game's stream is silent");
    turn(&admin, "{}").await;
    assert_eq!(board.expect("gameState").await["moves"], "e2e4", "what was held back comes");

    let since = Instant::now();
    turn(&admin, r#"{"silence": "both", "silence_for": "400ms"}"#).await;
    bob.play(&id, "e7e5").await;
    assert_eq!(board.expect("gameState").await["moves"], "e2e4 e7e5", "the silence ends by itself");
    assert!(since.elapsed() >= Duration::from_millis(400));

    turn(&admin, r#"{"limited_moves": 1}"#).await;
    alice.cannot(&id, "move/g1f3", 429).await;
    turn(&admin, r#"{"failed": 1}"#).await;
    assert_eq!(alice.get("/api/account").await.0, 503);
    turn(&admin, r#"{"revoked": ["alice"]}"#).await;
    assert_eq!(alice.get("/api/account").await.0, 401);
    assert_eq!(bob.get("/api/account").await.0, 200);

    turn(&admin, r#"{"half_lines": 1}"#).await;
    play(&alice, &bob, &id, "g1f3").await;
    let cut = board.line().await.unwrap();
    assert!(cut.starts_with('{') && !cut.ends_with('}'), "{cut}");
    assert_eq!(board.line().await, None, "and the stream has ended");
    turn(&admin, "{}").await;
    assert_eq!(bob.watch(&id).await.expect("gameFull").await["state"]["moves"], "e2e4 e7e5 g1f3");
    lichess.stop().await;
}

#[test]
async fn only_the_administrator_switches_faults_and_only_where_enabled() {
    let lichess = Lichess::start("").await;
    assert_eq!(lichess.admin().refused("/api/zeitnot/faults", "{}").await.0, 404);
    lichess.stop().await;
    let lichess = Lichess::start("[lichess.faults]\non_demand = true").await;
    assert_eq!(lichess.bot("alice").refused("/api/zeitnot/faults", "{}").await.0, 401);
    assert_eq!(lichess.admin().refused("/api/zeitnot/faults", r#"{"noise": 1}"#).await.0, 400);
    assert_eq!(lichess.admin().refused("/api/zeitnot/faults", r#"{"delay": "2days"}"#).await.0, 400);
    lichess.stop().await;
}

//! Accounts and their games on the arena's Bot API.

use serde_json::{Value, json};
use zeitnot_testing::soon;

use crate::support::lichess_arena::{Lichess, has, play};

const BLITZ: &str = "clock.limit=180&clock.increment=2";

#[test]
async fn accounts_are_shown_to_others() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let dave = lichess.bot("dave");
    let nobody = lichess.nobody();
    let id = lichess.game(&format!("{BLITZ}&rated=true")).await;
    let seen = nobody.get("/api/user/bob").await.1;
    assert!(seen["playing"].as_str().unwrap().ends_with(&id));
    assert_eq!(seen["count"]["playing"], 1);
    play(&alice, &bob, &id, "f2f3 e7e5 g2g4 d8h4").await;
    let seen = dave.get("/api/user/bob").await.1;
    // Accounts begin with one game of each kind.
    let count = json!({"win": 1, "all": 1, "rated": 1});
    has(&seen, json!({"title": "BOT", "count": count, "perfs": {"blitz": {"games": 2}}, "playing": null}));
    assert!(seen["createdAt"].is_u64() && seen["seenAt"].is_u64() && seen["playTime"]["total"].is_u64());
    assert_eq!(alice.get("/api/account").await.1["count"]["loss"], 1);

    let (_, users) = nobody.text("POST", "/api/users", "text/plain", "Alice, eve,dave,../x").await;
    let users: Value = serde_json::from_str(&users).unwrap();
    let ids: Vec<_> = users.as_array().unwrap().iter().map(|user| user["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["alice", "dave"]);

    lichess.game(BLITZ).await;
    let _events = alice.events().await;
    let (_, status) = nobody.get("/api/users/status?ids=alice,dave").await;
    has(&status[0], json!({"online": true, "playing": true}));
    has(&status[1], json!({"online": null, "playing": null}));
    lichess.stop().await;
}

#[test]
async fn games_are_exported() {
    let lichess = Lichess::start("").await;
    let (alice, bob) = (lichess.bot("alice"), lichess.bot("bob"));
    let id = lichess.game(&format!("{BLITZ}&rated=true")).await;
    play(&alice, &bob, &id, "e2e4 e7e5 g1f3 b8c6").await;
    let export = format!("/game/export/{id}");
    // Of a game that runs the last three plies are kept back.
    let (_, running) = alice.text("GET", &format!("{export}?evals=1&literate=1&opening=true"), "", "").await;
    assert!(running.contains("1. e4 {[%clk 0:03:00.00]} *"), "{running}");
    bob.act(&id, "resign").await;
    let (_, pgn) = lichess.nobody().text("GET", &export, "", "").await;
    assert!(pgn.contains("2. Nf3 {[%clk") && pgn.contains("[Termination \"normal\"]"), "{pgn}");
    assert!(pgn.trim().ends_with("1-0"), "{pgn}");
    lichess.stop().await;
}

#[test]
async fn a_token_that_is_revoked_closes_what_was_opened_with_it() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game(BLITZ).await;
    let mut events = alice.events().await;
    let mut game = alice.watch(&id).await;
    let form = format!("keepAliveStream=true&{BLITZ}");
    let mut waiting = alice.open("POST", "/api/challenge/carol", &form).await;
    let mut others = lichess.bot("carol").events().await;
    let mut watched = bob.watch(&id).await;
    others.expect("challenge").await;
    assert_eq!(alice.text("DELETE", "/api/token", "", "").await.0, 204);
    for stream in [&mut events, &mut game, &mut waiting] {
        soon("the end of a stream", stream.rest()).await;
    }
    others.expect("challengeCanceled").await;
    // Nobody else notices.
    bob.post(&format!("/api/bot/game/{id}/chat"), "room=player&text=hello").await;
    assert_eq!(watched.expect("chatLine").await["text"], "hello");
    lichess.stop().await;
}

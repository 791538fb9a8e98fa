//! Requests as Python's clients of Lichess send them, and the fields that they read.

use serde_json::{Value, json};
use tokio::process::Command;
use zeitnot_testing::{has_program, is_installed};

use crate::support::lichess_arena::{self, Lichess, has};

/// lichess-bot challenges nobody who has no games of the kind, and berserk makes dates of the times.
#[test]
async fn profiles_have_the_fields_that_clients_read() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let _events = (alice.events().await, bob.events().await);
    let (_, online) = alice.text("GET", "/api/bot/online", "", "").await;
    let online: Vec<Value> = online.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(online.len(), 2);
    for user in [alice.get("/api/account").await.1, alice.get("/api/user/Bob").await.1, online[0].clone()] {
        for perf in ["bullet", "blitz", "rapid", "classical", "correspondence", "chess960"] {
            assert!(user["perfs"][perf]["games"].as_u64() > Some(0), "{user}");
        }
        assert!(user["createdAt"].as_u64() > Some(1_700_000_000_000) && user["seenAt"].is_u64(), "{user}");
        let url = format!("http://{}/@/{}", lichess.address, user["username"].as_str().unwrap());
        assert_eq!((&user["url"], &user["count"]["all"]), (&json!(url), &json!(0)));
    }
    let id = lichess.game("clock.limit=180&clock.increment=2").await;
    let (_, status) = alice.get("/api/users/status?ids=bob").await;
    has(&status[0], json!({"online": true, "playing": true}));
    let (_, playing) = bob.get("/api/account/playing?nb=10").await;
    // There a title is a part of this name, and of no other.
    assert_eq!(playing["nowPlaying"][0]["opponent"]["username"], "BOT Alice");
    assert_eq!(playing["nowPlaying"][0]["compat"], json!({"bot": true, "board": false}));
    lichess_arena::play(&alice, &bob, &id, "e2e4 e7e5").await;
    bob.act(&id, "resign").await;
    let count = json!({"all": 1, "playing": 0, "rated": 0, "win": 1, "loss": 0, "draw": 0});
    assert_eq!(alice.get("/api/account").await.1["count"], count);
    let (_, pgn) = bob.text("GET", &format!("/game/export/{id}"), "", "").await;
    assert!(pgn.contains(&format!("[GameId \"{id}\"]\n[UTCDate \"20")), "{pgn}");
    assert!(pgn.contains("[WhiteElo \"1500\"]\n[WhiteTitle \"BOT\"]\n"), "{pgn}");
    lichess.stop().await;
}

/// Berserk sends JSON, with `null` for what was not said.
#[test]
async fn json_bodies_with_null_are_accepted() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let form = r#"{"rated": false, "clock.limit": 180, "clock.increment": 2, "days": null, "color": "white",
        "variant": null, "fen": null}"#;
    let (status, challenge) = alice.post("/api/challenge/bob", form).await;
    assert_eq!((status, &challenge["timeControl"]["show"]), (200, &json!("3+2")), "{challenge}");
    let id = challenge["id"].as_str().unwrap().to_owned();
    let mut events = alice.events().await;
    assert_eq!(bob.post(&format!("/api/challenge/{id}/decline"), r#"{"reason": "tooFast"}"#).await.0, 200);
    assert_eq!(events.expect("challengeDeclined").await["challenge"]["declineReasonKey"], "toofast");

    // lichess-bot and BotLi look for the field's name on top, berserk at the error.
    let (status, wrong) = alice.post("/api/challenge/bob", "clock.limit=70&clock.increment=1").await;
    assert_eq!((status, &wrong["clock.limit"]), (400, &wrong["error"]["clock.limit"]));
    assert!(wrong["clock.limit"][0].is_string(), "{wrong}");

    let id = lichess.game("clock.limit=180&clock.increment=2").await;
    let mut board = bob.watch(&id).await;
    let chat = r#"{"room": "spectator", "text": "good luck"}"#;
    assert_eq!(alice.post(&format!("/api/bot/game/{id}/chat"), chat).await.0, 200);
    assert_eq!(board.expect("chatLine").await["room"], "spectator");
    drop(board);
    lichess.stop().await;
}

/// All requests of a bot by the real client, where it is installed: `pip install berserk`.
#[test]
async fn the_client_berserk_plays() {
    if !has_program("python3", "python3") {
        return;
    }
    let there = Command::new("python3").args(["-c", "import berserk"]).output().await.unwrap();
    if !is_installed("berserk", there.status.success(), "python3 -m pip install berserk") {
        return;
    }
    let lichess = Lichess::start("").await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/berserk_check.py");
    let url = lichess.url();
    let run = Command::new("python3").args([script, &url, "lip_alice", "lip_bob"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    lichess.stop().await;
}

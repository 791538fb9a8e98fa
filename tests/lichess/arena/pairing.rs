//! How games begin on the arena's Bot API besides by a challenge, and what organisers do with them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use crate::support::lichess_arena::{Bot, Lichess, play};

const BLITZ: &str = "clock.limit=180&clock.increment=2";

/// A request that makes something.
async fn made(bot: &Bot, path: &str, form: &str) -> Value {
    let (status, answer) = bot.post(path, form).await;
    assert!((200..300).contains(&status), "{path}: {answer}");
    answer
}

fn id_of(made: &Value) -> String {
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_challenge_to_anybody() {
    let lichess = Lichess::start("").await;
    let (alice, bob) = (lichess.bot("alice"), lichess.bot("bob"));
    let nobody = Bot { token: String::new(), ..alice.clone() };
    let open = made(&nobody, "/api/challenge/open", &format!("{BLITZ}&name=come+in&variant=chess960")).await;
    let id = id_of(&open);
    assert_eq!((&open["challenger"], &open["destUser"]), (&Value::Null, &Value::Null));
    assert_eq!((&open["name"], &open["open"]["userIds"]), (&json!("come in"), &Value::Null));
    assert!(open["urlWhite"].as_str().unwrap().ends_with(&format!("/{id}?color=white")));
    assert!(open["urlBlack"].as_str().unwrap().ends_with("?color=black"));

    let mut events = alice.events().await;
    let accept = format!("/api/challenge/{id}/accept?color=black");
    alice.ok(&accept).await;
    assert_eq!(alice.refused(&accept, "").await.0, 404);
    bob.ok(&accept).await;
    let start = events.expect("gameStart").await["game"].clone();
    assert_eq!(
        (&start["id"], &start["color"], &start["source"]),
        (&json!(id), &json!("black"), &json!("api"))
    );
    assert_eq!(lichess.bot("carol").refused(&accept, "").await.0, 404);

    // Two who were named, White first; the first of them to come does not choose.
    let open = made(&alice, "/api/challenge/open", &format!("{BLITZ}&users=bob,carol")).await;
    let accept = format!("/api/challenge/{}/accept?color=white", id_of(&open));
    assert_eq!(alice.refused(&accept, "").await.0, 404);
    lichess.bot("carol").ok(&accept).await;
    bob.ok(&accept).await;
    let full = bob.watch(&id_of(&open)).await.next().await.unwrap();
    assert_eq!((&full["white"]["id"], &full["black"]["id"]), (&json!("bob"), &json!("carol")));

    let open = made(&alice, "/api/challenge/open", BLITZ).await;
    let path = format!("/api/challenge/{}", id_of(&open));
    assert_eq!(bob.refused(&format!("{path}/cancel"), "").await.0, 404);
    alice.ok(&format!("{path}/cancel")).await;
    assert_eq!(bob.refused(&format!("{path}/accept"), "").await.0, 404);
    for form in
        ["clock.limit=7", "users=bob", "users=bob,bob", "users=bob,eve", "clock.limit=180&expiresAt=x"]
    {
        assert_eq!(alice.refused("/api/challenge/open", form).await.0, 400, "{form}");
    }
    let open = made(&alice, "/api/challenge/open", &format!("{BLITZ}&expiresAt=1000")).await;
    sleep(Duration::from_millis(120)).await;
    assert_eq!(bob.refused(&format!("/api/challenge/{}/accept", id_of(&open)), "").await.0, 404);
    lichess.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test]
async fn against_the_computer() {
    let lichess = Lichess::start("ai = 'carol'\n[lichess.limits]\ncomputer_games_a_day = 1").await;
    let (alice, carol) = (lichess.bot("alice"), lichess.bot("carol"));
    let form = format!("level=3&color=black&{BLITZ}");
    // Nobody is there to play for it.
    assert_eq!(alice.refused("/api/challenge/ai", &form).await.0, 400);
    let (mut hers, mut house) = (alice.events().await, carol.events().await);
    assert_eq!(alice.refused("/api/challenge/ai", "level=9").await.0, 400);
    let (status, game) = alice.post("/api/challenge/ai", &form).await;
    assert_eq!((status, &game["status"]["name"]), (201, &json!("started")));
    let id = id_of(&game);
    assert!(game["fullId"].as_str().unwrap().starts_with(&id));
    let start = hers.expect("gameStart").await["game"].clone();
    assert_eq!((&start["source"], &start["opponent"]["id"]), (&json!("ai"), &Value::Null));
    assert_eq!(start["opponent"]["ai"], 3);
    assert_eq!(house.expect("gameStart").await["game"]["opponent"]["id"], "alice");
    let full = alice.watch(&id).await.next().await.unwrap();
    assert_eq!((&full["white"], &full["black"]["id"]), (&json!({"aiLevel": 3}), &json!("alice")));
    play(&carol, &alice, &id, "e2e4 e7e5").await;
    assert_eq!(alice.post("/api/challenge/ai", &form).await.0, 429);
    alice.ok(&format!("/api/bot/game/{id}/resign")).await;
    assert!(lichess.stop().await.contains("[White \"AI level 3\"]"));
}

#[tokio::test]
async fn a_rematch() {
    let lichess = Lichess::start("").await;
    let (alice, dave) = (lichess.bot("alice"), lichess.bot("dave"));
    let challenge = made(&dave, "/api/challenge/alice", &format!("{BLITZ}&color=white")).await;
    let id = id_of(&challenge);
    alice.ok(&format!("/api/challenge/{id}/accept")).await;
    let again = format!("/challenge/rematch-of/{id}");
    assert_eq!(dave.refused(&again, "").await.0, 400, "the game still runs");
    // People have a way of their own to play.
    assert_eq!(dave.refused(&format!("/api/bot/game/{id}/move/e2e4"), "").await.0, 400);
    assert_eq!(alice.refused(&format!("/api/board/game/{id}/move/e2e4"), "").await.0, 403);
    dave.ok(&format!("/api/board/game/{id}/move/e2e4")).await;
    alice.play(&id, "e7e5").await;
    dave.ok(&format!("/api/board/game/{id}/resign")).await;

    let mut events = alice.events().await;
    assert_eq!(alice.refused(&again, "").await.0, 400, "bots do not ask");
    made(&dave, &again, "").await;
    made(&dave, &again, "").await;
    let offer = events.expect("challenge").await["challenge"].clone();
    assert_eq!((&offer["rematchOf"], &offer["finalColor"]), (&json!(id), &json!("black")));
    let next = id_of(&offer);
    alice.ok(&format!("/api/challenge/{next}/accept")).await;
    let start = events.expect("gameStart").await["game"].clone();
    assert_eq!((&start["id"], &start["color"]), (&json!(next), &json!("white")));
    let before = alice.watch(&id).await.next().await.unwrap();
    assert_eq!(before["state"]["rematch"], json!(next));
    assert_eq!(dave.refused(&again, "").await.0, 400, "there is one already");

    alice.ok(&format!("/api/bot/game/{next}/abort")).await;
    made(&dave, &format!("/challenge/rematch-of/{next}"), "").await;
    let offer = events.expect("challenge").await["challenge"].clone();
    alice.ok(&format!("/api/challenge/{}/decline", id_of(&offer))).await;
    assert_eq!(events.expect("challengeDeclined").await["challenge"]["declineReasonKey"], "generic");
    lichess.stop().await;
}

#[tokio::test]
async fn clocks_that_others_set() {
    let lichess = Lichess::start("first_move = '600ms'").await;
    let (alice, bob) = (lichess.bot("alice"), lichess.bot("bob"));
    let id = lichess.game(BLITZ).await;
    let mut board = alice.watch(&id).await;
    board.next().await;
    let start = format!("/api/challenge/{id}/start-clocks");
    assert_eq!(alice.refused(&start, "token1=lip_alice").await.0, 404);
    assert_eq!(alice.refused(&start, "token1=lip_alice&token2=lip_nobody").await.0, 400);
    alice.ok(&format!("{start}?token1=lip_bob&token2=lip_alice")).await;
    assert_eq!(board.expect("gameState").await["expiration"], Value::Null);
    // Nobody waits for first moves any more: White's time passes.
    sleep(Duration::from_millis(900)).await;
    let state = alice.watch(&id).await.next().await.unwrap()["state"].clone();
    assert_eq!(state["status"], "started");
    assert!(state["wtime"].as_u64().unwrap() <= 179_500, "{state}");

    assert_eq!(bob.refused(&format!("/api/round/{id}/add-time/61"), "").await.0, 400);
    assert_eq!(lichess.bot("carol").refused(&format!("/api/round/{id}/add-time/15"), "").await.0, 404);
    bob.ok(&format!("/api/round/{id}/add-time/30")).await;
    let state = alice.watch(&id).await.next().await.unwrap()["state"].clone();
    assert!((200_000..209_500).contains(&state["wtime"].as_u64().unwrap()), "{state}");
    let id = lichess.game("days=1").await;
    assert_eq!(bob.refused(&format!("/api/round/{id}/add-time/30"), "").await.0, 400);

    // With the opponent's consent a game that has begun can be called off.
    let id = lichess.game(BLITZ).await;
    play(&alice, &bob, &id, "e2e4 e7e5").await;
    let cancel = format!("/api/challenge/{id}/cancel");
    assert_eq!(alice.refused(&cancel, "").await, (400, "Missing opponentToken".into()));
    assert_eq!(alice.refused(&format!("{cancel}?opponentToken=lip_carol"), "").await.0, 400);
    alice.ok(&format!("{cancel}?opponentToken=lip_bob")).await;
    assert_eq!(alice.watch(&id).await.next().await.unwrap()["state"]["status"], "aborted");
    lichess.stop().await;
}

#[tokio::test]
async fn many_pairs_at_once() {
    let lichess = Lichess::start("first_move = '20s'").await;
    let (alice, dave) = (lichess.bot("alice"), lichess.bot("dave"));
    let path = "/api/bulk-pairing";
    assert_eq!(alice.refused(path, "players=lip_alice:lip_bob").await, (403, "Missing scope".into()));
    for players in ["", "lip_alice", "lip_alice:lip_eve", "lip_alice:lip_alice"] {
        let (status, why) = dave.refused(path, &format!("players={players}&{BLITZ}")).await;
        assert_eq!((status, why.contains("lip_")), (400, false), "{players}: {why}");
    }
    let mut events = alice.events().await;
    let players = "players=lip_alice:lip_bob,lip_carol:lip_dave";
    let bulk = made(&dave, path, &format!("{players}&{BLITZ}&rated=true")).await;
    assert_eq!(bulk["clock"], json!({"limit": 180, "increment": 2}));
    assert_eq!((&bulk["games"][1]["white"], &bulk["games"][1]["black"]), (&json!("carol"), &json!("dave")));
    assert!(bulk["pairedAt"].is_u64() && bulk["rated"] == true, "{bulk}");
    let start = events.expect("gameStart").await["game"].clone();
    assert_eq!((&start["id"], &start["source"]), (&bulk["games"][0]["id"], &json!("api")));
    let one = format!("{path}/{}", id_of(&bulk));
    assert_eq!(dave.get(&one).await.1["id"], bulk["id"]);
    assert_eq!(dave.text("DELETE", &one, "", "").await.0, 404, "the games have begun");
    dave.ok(&format!("{one}/start-clocks")).await;
    sleep(Duration::from_millis(200)).await;
    let state = alice.watch(start["id"].as_str().unwrap()).await.next().await.unwrap()["state"].clone();
    assert!(state["wtime"].as_u64().unwrap() < 180_000, "{state}");
    let (_, games) = dave.text("GET", &format!("{one}/games"), "application/x-ndjson", "").await;
    assert_eq!(games.lines().count(), 2);

    // Later ones can be called off, until they begin.
    let soon = unix_millis() + 400;
    let later = |at: u128| format!("{players}&{BLITZ}&pairAt={at}");
    assert_eq!(dave.refused(path, &later(soon + 8 * 24 * 3_600_000)).await.0, 400);
    let away = made(&dave, path, &later(soon + 100_000)).await;
    let bulk = made(&dave, path, &format!("{}&startClocksAt={}", later(soon), soon + 100)).await;
    assert_eq!(bulk["pairedAt"], Value::Null);
    assert_eq!(dave.get(path).await.1.as_array().unwrap().len(), 2);
    assert_eq!(dave.text("DELETE", &format!("{path}/{}", id_of(&away)), "", "").await.0, 200);
    assert_eq!(dave.get(&format!("{path}/{}", id_of(&away))).await.0, 404);
    let since = Instant::now();
    assert_eq!(events.expect("gameStart").await["game"]["id"], bulk["games"][0]["id"]);
    assert!(since.elapsed() < Duration::from_secs(5));
    lichess.stop().await;
}

fn unix_millis() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()
}

#[tokio::test]
async fn what_players_agreed_not_to_do() {
    let lichess = Lichess::start("").await;
    let (bob, dave) = (lichess.bot("bob"), lichess.bot("dave"));
    let rules = "rules=noAbort,noGiveTime,noEarlyDraw,noRematch";
    assert_eq!(dave.refused("/api/challenge/bob", &format!("{BLITZ}&{rules}")).await.0, 400);
    let challenge = made(&bob, "/api/challenge/dave", &format!("{BLITZ}&color=white&{rules}")).await;
    let id = id_of(&challenge);
    assert_eq!(challenge["rules"].as_array().unwrap().len(), 4);
    dave.ok(&format!("/api/challenge/{id}/accept")).await;
    assert_eq!(bob.refused(&format!("/api/bot/game/{id}/abort"), "").await.0, 400);
    assert_eq!(bob.refused(&format!("/api/bot/game/{id}/berserk"), "").await.0, 400);
    bob.play(&id, "e2e4").await;
    dave.ok(&format!("/api/board/game/{id}/move/e7e5")).await;
    assert_eq!(bob.refused(&format!("/api/round/{id}/add-time/15"), "").await.0, 400);
    bob.ok(&format!("/api/bot/game/{id}/draw/yes")).await;
    let full = dave.stream(&format!("/api/board/game/stream/{id}")).await.next().await.unwrap();
    assert_eq!(full["state"]["wdraw"], Value::Null, "it is too early");
    bob.ok(&format!("/api/bot/game/{id}/resign")).await;
    assert_eq!(dave.refused(&format!("/challenge/rematch-of/{id}"), "").await.0, 400);
    lichess.stop().await;
}

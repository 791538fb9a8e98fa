//! The arena's Lichess Bot API as its clients see it.

use std::time::Duration;

use serde_json::json;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use crate::support::lichess_arena::{Bot, Lichess, has, play};

const BLITZ: &str = "clock.limit=180&clock.increment=2";

#[test]
async fn tokens_name_their_accounts() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let nobody = lichess.nobody();
    let (status, account) = alice.get("/api/account/").await;
    assert_eq!(status, 200);
    has(
        &account,
        json!({"id": "alice", "username": "Alice", "title": "BOT", "perfs": {"blitz": {"rating": 1500}}}),
    );
    let stranger = Bot::new(lichess.address, "lip_nobody");
    assert_eq!(stranger.get("/api/account").await, (401, json!({"error": "No such token"})));
    assert_eq!(nobody.get("/api/stream/event").await.0, 401);
    // Tournaments are those of the arena, and shown by its page.
    for path in ["/api/nothing", "/api/tournament"] {
        assert_eq!(alice.get(path).await.0, 404, "{path}");
    }
    assert_eq!(nobody.get("/api/user/Bob").await.1["id"], "bob");
    assert_eq!(nobody.get("/api/user/eve").await.0, 404);

    let (_, tested) = nobody.post("/api/token/test", "lip_alice,lip_eve, lip_bob").await;
    assert_eq!(tested["lip_alice"], json!({"userId": "alice", "scopes": "bot:play", "expires": null}));
    has(&tested, json!({"lip_eve": null, "lip_bob": {"userId": "bob"}}));
    assert_eq!(alice.text("DELETE", "/api/token", "", "").await.0, 204);
    assert_eq!(alice.get("/api/account").await.0, 401);
    assert_eq!(lichess.stop().await, "");
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn accounts_are_created_and_upgraded() {
    let lichess = Lichess::start("").await;
    let admin = lichess.admin();
    let dave = lichess.bot("dave");
    let (status, made) = admin.post("/api/zeitnot/account", "name=Erin").await;
    assert_eq!((status, &made["id"]), (200, &json!("erin")));
    let erin = Bot::new(lichess.address, made["token"].as_str().unwrap());
    assert_eq!(erin.get("/api/account").await.1["title"], "BOT");
    assert_eq!(admin.refused("/api/zeitnot/account", "name=erin").await.0, 400);
    assert_eq!(dave.refused("/api/zeitnot/account", "name=frank").await.0, 401);

    assert!(dave.refused("/api/bot/game/abcdefgh/move/e2e4", "").await.1.contains("Bot account"));
    dave.ok("/api/bot/account/upgrade").await;
    assert_eq!(dave.get("/api/account").await.1["title"], "BOT");
    assert_eq!(dave.refused("/api/bot/account/upgrade", "").await.0, 400);
    lichess.stop().await;
}

#[test]
async fn a_game_is_played_to_the_mate() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let mut hers = alice.events().await;
    let mut his = bob.events().await;
    let id = lichess.game(&format!("{BLITZ}&rated=true")).await;
    let challenge = his.expect("challenge").await;
    has(
        &challenge,
        json!({"challenge": {"id": id, "timeControl": {"show": "3+2"}}, "compat": {"bot": true}}),
    );
    let start = hers.expect("gameStart").await;
    has(&start["game"], json!({"gameId": id, "color": "white", "isMyTurn": true, "opponent": {"id": "bob"}}));
    his.expect("gameStart").await;

    let mut board = bob.watch(&id).await;
    let full = board.next().await.unwrap();
    let clock = json!({"initial": 180_000, "increment": 2000});
    has(
        &full,
        json!({"type": "gameFull", "initialFen": "startpos", "clock": clock, "white": {"name": "Alice"}, "state": {"moves": ""}}),
    );
    assert!(full["state"]["expiration"]["millisToMove"].as_u64().unwrap() > 25_000);

    assert_eq!(bob.cannot(&id, "move/e7e5", 400).await, "Not your turn, or game already over");
    assert_eq!(alice.cannot(&id, "move/e2e5", 400).await, "Invalid UCI: e2e5");
    lichess.bot("carol").cannot(&id, "move/e2e4", 404).await;

    play(&alice, &bob, &id, "f2f3 e7e5").await;
    sleep(Duration::from_millis(30)).await;
    play(&alice, &bob, &id, "g2g4 d8h4").await;
    let states = board.rest().await;
    let moves: Vec<_> = states.iter().map(|state| state["moves"].as_str().unwrap()).collect();
    assert_eq!(moves, ["f2f3", "f2f3 e7e5", "f2f3 e7e5 g2g4", "f2f3 e7e5 g2g4 d8h4"]);
    has(&states[1], json!({"wtime": 180_000, "btime": 180_000}));
    let left = states[2]["wtime"].as_u64().unwrap();
    assert!((150_000..=181_970).contains(&left), "{left}");
    has(&states[3], json!({"status": "mate", "winner": "black"}));

    let finish = hers.expect("gameFinish").await;
    has(&finish["game"], json!({"status": {"id": 30, "name": "mate"}, "ratingDiff": -16, "winner": "black"}));
    assert_eq!(bob.get("/api/account").await.1["perfs"]["blitz"]["rating"], 1516);
    let (_, pgn) = alice.text("GET", &format!("/game/export/{id}"), "", "").await;
    assert!(pgn.contains("[White \"Alice\"]") && pgn.contains("2... Qh4# {[%clk"), "{pgn}");
    // The stream of a finished game tells its end.
    assert_eq!(alice.watch(&id).await.rest().await[0]["state"]["status"], "mate");
    drop((hers, his));
    assert_eq!(lichess.stop().await, pgn);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn flags_fall_and_games_without_first_moves_are_aborted() {
    let lichess = Lichess::start("first_move = '700ms'").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game("clock.limit=0&clock.increment=1").await;
    let mut board = alice.watch(&id).await;
    assert_eq!(board.next().await.unwrap()["state"]["wtime"], 3000);
    let since = Instant::now();
    play(&alice, &bob, &id, "e2e4 e7e5").await;
    let over = board.rest().await.pop().unwrap();
    assert!(since.elapsed() >= Duration::from_secs(3));
    has(&over, json!({"status": "outoftime", "winner": "black", "wtime": 0}));

    let id = lichess.game(BLITZ).await;
    let mut board = bob.watch(&id).await;
    alice.play(&id, "e2e4").await;
    let over = board.rest().await.pop().unwrap();
    has(&over, json!({"status": "aborted", "winner": null}));
    assert!(alice.cannot(&id, "move/e7e5", 400).await.contains("already over"));
    let pgn = lichess.stop().await;
    assert!(
        pgn.contains("[Termination \"time forfeit\"]") && pgn.contains("[Termination \"abandoned\"]"),
        "{pgn}"
    );
}

#[test]
async fn players_abort_resign_and_agree_on_draws() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    for (moves, actions, status, winner) in [
        ("e2e4", &[("bob", "abort")][..], "aborted", None),
        ("e2e4", &[("bob", "resign")], "aborted", None),
        ("e2e4 e7e5", &[("bob", "resign")], "resign", Some("white")),
        ("e2e4 e7e5", &[("alice", "draw/yes"), ("bob", "draw/yes")], "draw", None),
        (
            "e2e4 e7e5",
            &[("alice", "move/d2d4?offeringDraw=true"), ("bob", "move/d7d5?offeringDraw=true")],
            "draw",
            None,
        ),
        ("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", &[], "draw", None),
    ] {
        let id = lichess.game(BLITZ).await;
        let mut board = alice.watch(&id).await;
        play(&alice, &bob, &id, moves).await;
        for (who, action) in actions {
            lichess.bot(who).act(&id, action).await;
        }
        let over = board.rest().await.pop().unwrap();
        assert_eq!((&over["status"], over["winner"].as_str()), (&json!(status), winner), "{actions:?}");
    }
    let id = lichess.game(BLITZ).await;
    play(&alice, &bob, &id, "e2e4 e7e5").await;
    for action in ["abort", "claim-victory"] {
        alice.cannot(&id, action, 400).await;
    }
    // A game that both have begun is no longer a challenge to be cancelled.
    assert_eq!(alice.refused(&format!("/api/challenge/{id}/cancel"), "").await.0, 400);
    let id = lichess.game(BLITZ).await;
    assert_eq!(lichess.bot("carol").refused(&format!("/api/challenge/{id}/cancel"), "").await.0, 404);
    alice.ok(&format!("/api/challenge/{id}/cancel")).await;
    assert_eq!(alice.watch(&id).await.next().await.unwrap()["state"]["status"], "aborted");
    lichess.stop().await;
}

#[test]
async fn offers_takebacks_and_chat_reach_both_sides() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game(BLITZ).await;
    let mut board = alice.watch(&id).await;
    play(&alice, &bob, &id, "e2e4 e7e5 g1f3").await;
    for _ in 0..3 {
        board.expect("gameState").await;
    }
    bob.act(&id, "draw/yes").await;
    assert_eq!(board.expect("gameState").await["bdraw"], true);
    alice.act(&id, "draw/no").await;
    assert_eq!(board.expect("gameState").await["bdraw"], json!(null));

    bob.act(&id, "takeback/yes").await;
    assert_eq!(board.expect("gameState").await["btakeback"], true);
    alice.act(&id, "takeback/yes").await;
    let state = board.expect("gameState").await;
    has(&state, json!({"moves": "e2e4", "btakeback": null}));
    bob.play(&id, "c7c5").await;
    assert_eq!(board.expect("gameState").await["moves"], "e2e4 c7c5");

    let (status, _) = bob.post(&format!("/api/bot/game/{id}/chat"), "room=player&text=good+luck").await;
    assert_eq!(status, 200);
    let line = board.expect("chatLine").await;
    assert_eq!(line, json!({"type": "chatLine", "room": "player", "username": "Bob", "text": "good luck"}));
    lichess.stop().await;
}

#[test]
async fn a_second_stream_ends_the_first() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let mut first = alice.events().await;
    let id = lichess.game(BLITZ).await;
    let mut second = alice.events().await;
    assert_eq!(second.expect("gameStart").await["game"]["id"], json!(id));
    first.rest().await;

    let mut board = alice.watch(&id).await;
    let mut other = Bot { agent: "another program".into(), ..alice.clone() }.watch(&id).await;
    let mut again = alice.watch(&id).await;
    assert_eq!(board.rest().await.len(), 1);
    alice.play(&id, "e2e4").await;
    for stream in [&mut other, &mut again] {
        assert_eq!(stream.expect("gameState").await["moves"], "e2e4");
    }
    lichess.stop().await;
}

#[test]
async fn streams_send_empty_lines_as_keep_alive() {
    let lichess = Lichess::start("event_keep_alive = '30ms'\ngame_keep_alive = '30ms'").await;
    let alice = lichess.bot("alice");
    let id = lichess.game(BLITZ).await;
    let mut events = alice.events().await;
    let mut board = alice.watch(&id).await;
    for stream in [&mut events, &mut board] {
        assert!(stream.line().await.unwrap().starts_with('{'));
        for _ in 0..2 {
            assert_eq!(stream.line().await.unwrap(), "");
        }
    }
    lichess.stop().await;
}

#[test]
async fn victory_can_be_claimed_over_an_opponent_who_left() {
    let lichess = Lichess::start("gone_after = '100ms'\nclaim_after = '1s'").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game(BLITZ).await;
    let mut hers = alice.watch(&id).await;
    let his = bob.watch(&id).await;
    play(&alice, &bob, &id, "e2e4 e7e5").await;
    drop(his);
    let gone = hers.expect("opponentGone").await;
    has(&gone, json!({"gone": true, "claimWinInSeconds": 1}));
    let his = bob.watch(&id).await;
    assert_eq!(hers.expect("opponentGone").await, json!({"type": "opponentGone", "gone": false}));
    alice.cannot(&id, "claim-victory", 400).await;
    drop(his);
    while hers.expect("opponentGone").await["claimWinInSeconds"] != 0 {}
    alice.act(&id, "claim-victory").await;
    let over = hers.rest().await.pop().unwrap();
    has(&over, json!({"status": "timeout", "winner": "white"}));
    lichess.stop().await;
}

#[test]
async fn challenges_are_declined_canceled_and_expire() {
    let lichess = Lichess::start("challenge_life = '300ms'").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let mut hers = alice.events().await;
    let mut his = bob.events().await;
    let json = r#"{"rated": false, "clock.limit": 60, "clock.increment": 1, "color": "random", "keepAliveStream": true}"#;
    let mut waiting = alice.open("POST", "/api/challenge/Bob", json).await;
    let id = waiting.next().await.unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(hers.expect("challenge").await["challenge"]["challenger"]["id"], "alice");
    assert_eq!(his.expect("challenge").await["challenge"]["id"], json!(id));
    assert_eq!(alice.refused(&format!("/api/challenge/{id}/accept"), "").await.0, 404);
    // It is kept alive, so it outlives one that was made later.
    let later = alice.challenge("carol", BLITZ).await;
    assert_eq!(hers.expect("challengeCanceled").await["challenge"]["id"], later["id"]);
    let (status, _) = bob.post(&format!("/api/challenge/{id}/decline"), "reason=tooFast").await;
    assert_eq!(status, 200);
    assert_eq!(waiting.rest().await, [json!({"done": "declined"})]);
    let declined = hers.expect("challengeDeclined").await["challenge"].clone();
    has(&declined, json!({"declineReasonKey": "toofast", "status": "declined"}));
    assert!(declined["declineReason"].as_str().unwrap().contains("too fast"));

    // Closing the stream of a kept-alive challenge cancels it.
    drop(alice.open("POST", "/api/challenge/bob", &format!("{BLITZ}&keepAliveStream=true")).await);
    his.expect("challengeCanceled").await;
    alice.post("/api/challenge/bob", BLITZ).await;
    let canceled = his.expect("challengeCanceled").await;
    let id = canceled["challenge"]["id"].as_str().unwrap();
    assert_eq!(bob.refused(&format!("/api/challenge/{id}/accept"), "").await.0, 404);
    let challenge = alice.challenge("bob", BLITZ).await;
    alice.ok(&format!("/api/challenge/{}/cancel", challenge["id"].as_str().unwrap())).await;
    his.expect("challengeCanceled").await;

    for (whom, form, status) in [
        ("alice", BLITZ, 404),
        ("eve", BLITZ, 400),
        ("bob", "clock.limit=7&clock.increment=1", 400),
        ("bob", "clock.limit=15&clock.increment=0", 400),
        ("bob", "variant=brandNew&clock.limit=60", 400),
        ("bob", "clock.limit=60&rules=noAbort", 400),
        ("bob", "clock.limit=many", 400),
        ("bob", "days=2", 400),
        ("bob", "", 400),
        ("bob", "{", 400),
    ] {
        assert_eq!(alice.refused(&format!("/api/challenge/{whom}"), form).await.0, status, "{form}");
    }
    lichess.stop().await;
}

#[test]
async fn games_begin_from_other_positions() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let id = lichess.game(&format!("variant=chess960&{BLITZ}&fen=4k3/8/8/8/8/8/8/1R2K2R+w+KQ+-+0+1")).await;
    let mut board = alice.watch(&id).await;
    assert_eq!(board.next().await.unwrap()["variant"]["key"], "chess960");
    alice.play(&id, "e1b1").await;
    assert_eq!(board.expect("gameState").await["moves"], "e1b1");
    let id = lichess.game(&format!("{BLITZ}&fen=4k3/8/8/8/8/8/8/4K2R+w+K+-+0+1")).await;
    alice.play(&id, "e1h1").await;
    let full = bob.watch(&id).await.next().await.unwrap();
    has(&full, json!({"variant": {"key": "fromPosition"}, "state": {"moves": "e1g1"}}));

    let id = lichess.game(&format!("variant=chess960&{BLITZ}")).await;
    let fen = alice.watch(&id).await.next().await.unwrap()["initialFen"].clone();
    assert!(fen.as_str().unwrap().ends_with(" w KQkq - 0 1"), "{fen}");

    let playing = alice.playing().await;
    assert_eq!((playing.len(), &playing[0]["isMyTurn"]), (3, &json!(true)));
    assert_eq!(alice.get("/api/account/playing?nb=2").await.1["nowPlaying"].as_array().unwrap().len(), 2);
    let (_, statuses) = alice.get("/api/users/status?ids=alice,dave,eve").await;
    assert_eq!((statuses.as_array().unwrap().len(), &statuses[0]["playing"]), (2, &json!(true)));
    let _events = bob.events().await;
    let (_, online) = alice.text("GET", "/api/bot/online", "", "").await;
    assert!(online.contains("\"Bob\"") && !online.contains("\"Carol\""), "{online}");
    lichess.stop().await;
}

#[test]
async fn limits_are_enforced_and_named() {
    let limits = "[lichess.limits]\nevent_streams = 2\nbot_games_a_day = 1\naccounts = 1";
    let lichess = Lichess::start(limits).await;
    let alice = lichess.bot("alice");
    let carol = lichess.bot("carol");
    assert_eq!((alice.get("/api/account").await.0, alice.get("/api/account").await.0), (200, 429));
    let _streams = (alice.events().await, alice.events().await);
    let (status, polled) = alice.get("/api/stream/event").await;
    assert_eq!(status, 429);
    assert!(polled["error"].as_str().unwrap().starts_with("Please don't poll this endpoint"));
    lichess.game(BLITZ).await;
    for (who, whom, expected) in [(&alice, "carol", 429), (&carol, "alice", 400)] {
        let (status, refused) = who.post(&format!("/api/challenge/{whom}"), BLITZ).await;
        assert_eq!((status, &refused["ratelimit"]["key"]), (expected, &json!("bot.vsBot.day")));
        assert!(refused["ratelimit"]["seconds"].as_u64().unwrap() > 86_000);
    }
    lichess.stop().await;
}

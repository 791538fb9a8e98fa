//! Tables where people play, over real sockets.

use serde_json::{Value, json};

use crate::support::{
    storage::{Storage, on_both_databases},
    web::{Browser, Spectator, with_page, with_page_in},
};

on_both_databases!(two_play_every_kind_of_move_by_a_link);

/// A table with these fields; returns the game's id, the seat's token and the invitation.
async fn table(browser: &Browser, fields: Value) -> (String, String, Option<String>) {
    let mut request = json!({ "kind": "chess", "opponent": "human", "color": "white" });
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, made) = browser.post("/api/tables", &request).await;
    assert_eq!(status, 201, "{made}");
    let token = |name: &str| made[name].as_str().map(str::to_owned);
    (token("game").unwrap(), token("seat").unwrap(), token("invitation"))
}

async fn sit(browser: &Browser, token: &str) -> Spectator {
    browser.socket(&format!("/api/tables/{token}")).await
}

/// The next state with this many plies.
async fn after(player: &mut Spectator, plies: usize) -> Value {
    loop {
        let message = player.expect("state").await;
        if message["game"]["ply"] == plies {
            return message;
        }
    }
}

async fn play(player: &mut Spectator, mv: &str, ply: usize) -> Value {
    player.send(&json!({ "move": mv, "ply": ply }).to_string()).await;
    after(player, ply + 1).await
}

#[test]
async fn the_bot_is_mated_and_plays_again() {
    let (arena, browser) = with_page("").await;
    let fen = "6k1/5ppp/8/8/8/8/r4PPP/4R1K1 w - - 0 1";
    let (id, seat, invitation) =
        table(&browser, json!({ "opponent": { "bot": { "level": 2 } }, "fen": fen })).await;
    assert_eq!(invitation, None);
    let mut human = sit(&browser, &seat).await;
    let state = after(&mut human, 0).await;
    assert_eq!((&state["you"], &state["game"]["black"]["bot"]), (&json!("white"), &json!(true)));
    assert!(state["legal"].as_array().unwrap().contains(&json!({ "uci": "e1e8", "san": "Re8#" })));
    // Others can watch it by its id, but find it in no list.
    let (status, game) = browser.json(&format!("/api/games/{id}")).await;
    assert_eq!((status, &game["source"]), (200, &json!("table")));
    assert_eq!(browser.json("/api/games").await.1["games"], json!([]));
    let state = play(&mut human, "e1e8", 0).await;
    assert_eq!((&state["game"]["result"], &state["legal"]), (&json!("1-0"), &json!([])));
    human.send(r#"{"rematch":true}"#).await;
    let seat = human.expect("rematch").await["seat"].as_str().unwrap().to_owned();
    let mut human = sit(&browser, &seat).await;
    let state = after(&mut human, 1).await;
    assert_eq!((&state["you"], &state["game"]["start_fen"]), (&json!("black"), &json!(fen)));
    arena.stop().await;
}

async fn two_play_every_kind_of_move_by_a_link(storage: Storage) {
    let (arena, browser) = with_page_in(storage, "").await;
    let crazyhouse = "rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKB1R[Pn] w KQkq - 0 1";
    let chess960 = "nrk1bqrn/pppppppp/8/8/8/8/PPPPPPPP/NRK1BQRN w GBgb - 0 1";
    for (fields, moves) in [
        (json!({ "kind": "crazyhouse", "fen": crazyhouse }), ["P@e4", "N@f3"]),
        (json!({ "chess960": true, "fen": chess960 }), ["c1b1", "O-O-O"]),
        (json!({ "kind": "minichess-imcs" }), ["a2a3", "e5e4"]),
        (json!({ "kind": "minichess-2023" }), ["", ""]),
        (json!({ "kind": "minichess-2026" }), ["", ""]),
        (json!({ "kind": "tuc" }), ["", ""]),
        (json!({ "fen": "8/P6k/8/8/8/8/p6K/8 w - - 0 1" }), ["a8=N", "a2a1q"]),
    ] {
        let (_, seat, invitation) = table(&browser, fields.clone()).await;
        let [mut white, mut black] =
            [sit(&browser, &seat).await, sit(&browser, invitation.as_deref().unwrap()).await];
        let mut turn = loop {
            let state = after(&mut white, 0).await;
            if !state["legal"].as_array().unwrap().is_empty() {
                break state;
            }
        };
        for (ply, mv) in moves.into_iter().enumerate() {
            let (mover, other) = if ply == 0 { (&mut white, &mut black) } else { (&mut black, &mut white) };
            // Any move will do where none is named.
            let mv = if mv.is_empty() { turn["legal"][0]["uci"].as_str().unwrap() } else { mv };
            let state = play(mover, mv, ply).await;
            let played = &state["game"]["plies"][ply];
            assert!(played["uci"] == mv || played["san"] == mv, "{fields} {mv} {played}");
            turn = after(other, ply + 1).await;
            assert_eq!(turn["game"], state["game"]);
        }
    }
    arena.stop().await;
}

#[test]
async fn mistakes_are_told_and_change_nothing() {
    let (arena, browser) = with_page("").await;
    for (request, error) in [
        (json!({}), "kind"),
        (json!({ "kind": "go", "opponent": "human" }), "unknown game 'go'"),
        (json!({ "kind": "chess", "opponent": { "bot": { "level": 0 } } }), "from 1 to 8"),
        (json!({ "kind": "chess", "opponent": "human", "fen": "nonsense" }), "is not a position of chess"),
        (json!({ "kind": "chess", "opponent": "human", "time_control": "never" }), "is not a time control"),
    ] {
        let (status, answer) = browser.post("/api/tables", &request).await;
        assert!((400..500).contains(&status), "{request}: {status}");
        assert!(answer["error"].as_str().unwrap().contains(error), "{request}: {answer}");
    }
    let (_, seat, invitation) = table(&browser, json!({ "time_control": "60+1" })).await;
    for token in ["nothere", &seat[1..], &seat.to_uppercase()] {
        let url = format!("ws://{}/api/tables/{token}", browser.address);
        let refused = tokio_tungstenite::connect_async(url).await.unwrap_err().to_string();
        assert!(refused.contains("404"), "{refused}");
    }
    let mut white = sit(&browser, &seat).await;
    let mut black = sit(&browser, invitation.as_deref().unwrap()).await;
    after(&mut black, 0).await;
    for (message, error) in [
        ("hello", "not a message"),
        ("{}", "send one of"),
        (r#"{"move":"e2e4"}"#, "send one of"),
        (r#"{"move":"e2e4","ply":7}"#, "for ply 7, and 0 are played"),
        (r#"{"move":"e2e5","ply":0}"#, "is not a legal move"),
        (r#"{"draw":"accept"}"#, "nothing is offered"),
        (&" ".repeat(1025), "1024 bytes"),
    ] {
        white.send(message).await;
        let told = white.expect("error").await;
        assert!(told["error"].as_str().unwrap().contains(error), "{message}: {told}");
    }
    black.send(r#"{"move":"e7e5","ply":0}"#).await;
    assert_eq!(black.expect("error").await["error"], "it is not your turn");
    white.send(r#"{"ping":3}"#).await;
    assert_eq!(white.expect("pong").await["ping"], 3);
    assert_eq!(play(&mut white, "e4", 0).await["game"]["ply"], 1);
    arena.stop().await;
    assert_eq!(white.expect("state").await["game"]["reason"], "The arena is shutting down");
}

#[test]
async fn a_position_is_analysed() {
    let (arena, browser) = with_page("").await;
    let request = json!({ "kind": "chess", "fen": null, "moves": ["f2f3", "e7e5", "g2g4"] });
    let (status, found) = browser.post("/api/analysis", &request).await;
    assert_eq!((status, &found["score"], &found["san"]), (200, &json!({ "mate": -1 }), &json!(["Qh4#"])));
    let (status, told) = browser.post("/api/analysis", &json!({ "kind": "chess", "moves": ["e2e5"] })).await;
    assert_eq!((status, &told["error"]), (400, &json!("'e2e5' is not a legal move here")));
    arena.stop().await;
}

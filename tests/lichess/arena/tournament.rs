//! An arena tournament over the Bot API: three bots of ours join it and meet as they become free.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use zeitnot_engine::Kind;
use zeitnot_testing::soon;

use crate::support::{
    lichess_arena::{Lichess, accounts, has},
    lichess_client::{PATIENT, start_with},
};

const PLAYERS: [&str; 3] = ["erin", "finn", "gina"];

/// An hourly tournament with these accounts.
async fn hourly(settings: &str) -> Lichess {
    let tournament = "[[lichess.tournament]]\nname = 'Hourly'\nid = 'abcdefgh'\n";
    let (general, own) = settings.split_once("---\n").unwrap_or(("", settings));
    Lichess::start(&format!("{general}{tournament}{own}{}", accounts(&PLAYERS))).await
}

#[test(workers = 2)]
async fn free_players_are_paired_until_the_end() {
    // Games of antichess are short, so that one ends before the tournament even on a busy machine.
    let settings = "time = '20+0.1'\nvariant = 'antichess'\nlasts = '8s'\nstarts_in = '1s'\n\
                    password = 'hush'\nberserk = true\n";
    let lichess = hourly(settings).await;
    let erin = lichess.bot("erin");

    let (status, _) = erin.post("/api/tournament/abcdefgh/join", "password=wrong").await;
    assert_eq!(status, 400);
    assert_eq!(erin.get("/api/tournament/nothere1").await.0, 404);
    let made =
        r#"{"name": "Later", "time": "180+2", "lasts": "1h", "starts_in": "1h", "bots_allowed": false}"#;
    assert_eq!(erin.post("/api/zeitnot/tournament", made).await.0, 401);
    let (status, later) = lichess.admin().post("/api/zeitnot/tournament", made).await;
    assert_eq!((status, &later["isStarted"]), (200, &json!(false)), "{later}");
    let join = format!("/api/tournament/{}/join", later["id"].as_str().unwrap());
    assert!(erin.refused(&join, "").await.1.contains("bots"));
    let (_, all) = erin.get("/api/tournament").await;
    assert!(all["created"].as_array().unwrap().iter().any(|one| one["fullName"] == "Later"), "{all}");

    let settings = format!("[[tournament]]\nid = 'abcdefgh'\npassword = 'hush'\n{PATIENT}");
    let clients =
        PLAYERS.map(|name| start_with(&lichess.url(), &format!("lip_{name}"), Kind::Random, &settings));

    let mut seen: Option<Value> = None;
    let table = soon("the tournament's end", async {
        loop {
            seen = seen.take().or(erin.playing().await.first().cloned());
            let (_, table) = erin.get("/api/tournament/abcdefgh").await;
            if table["isFinished"] == true {
                return table;
            }
            sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let game = seen.expect("a game of erin");
    assert_eq!((&game["source"], &game["tournamentId"]), (&json!("arena"), &json!("abcdefgh")));
    let players = table["standing"]["players"].as_array().unwrap();
    assert_eq!((players.len(), &table["nbPlayers"]), (3, &json!(3)), "{table}");
    let scores: Vec<u64> = players.iter().map(|player| player["score"].as_u64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    for player in players {
        let sheet = player["sheet"]["scores"].as_str().unwrap();
        let sum: u64 = sheet.bytes().map(|digit| u64::from(digit - b'0')).sum();
        assert_eq!(player["score"], sum, "{player}");
    }
    assert!(scores.iter().sum::<u64>() >= 2, "at least one game was played to its end: {table}");

    for client in clients {
        client.ends_now().await;
    }
    lichess.stop().await;
}

#[test]
async fn a_player_who_does_not_move_is_not_paired_until_it_joins_again() {
    let lichess = hourly("first_move = '1s'\n---\ntime = '60+1'\nlasts = '1h'\nstarts_in = '0s'\n").await;
    let (erin, finn) = (lichess.bot("erin"), lichess.bot("finn"));
    for bot in [&erin, &finn] {
        bot.ok("/api/tournament/abcdefgh/join").await;
    }
    let (mut events, mut others) = (erin.events().await, finn.events().await);
    let start = events.expect("gameStart").await;
    // White does nothing and loses.
    let is_white = start["game"]["color"] == "white";
    let end = events.expect("gameFinish").await;
    has(&end["game"], json!({"status": {"name": "noStart"}, "winner": "black"}));
    others.expect("gameFinish").await;
    let silent = if is_white { "Erin" } else { "Finn" };
    let (_, table) = erin.get("/api/tournament/abcdefgh").await;
    for player in table["standing"]["players"].as_array().unwrap() {
        assert_eq!(player["withdraw"], player["name"] == silent, "{table}");
    }
    assert_eq!(erin.playing().await, [Value::Null; 0]);
    let back = if is_white { &erin } else { &finn };
    back.ok("/api/tournament/abcdefgh/join").await;
    assert_ne!(events.expect("gameStart").await["game"]["gameId"], start["game"]["gameId"]);
    lichess.stop().await;
}

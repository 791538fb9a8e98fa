//! An arena tournament over the Bot API: three bots of ours join it, meet one another as they become free, and
//! the table counts what they did.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena::{Arena, Config};
use zeitnot_bot as bot;
use zeitnot_clients::{
    Protocol, Shutdown,
    lichess::{self, Lichess as Client},
};
use zeitnot_engine::Kind;

use crate::support::{
    bot::lobby,
    lichess_arena::{Bot, Lichess},
    wait::{LONG, soon},
};

const PLAYERS: [&str; 3] = ["Alice", "Bob", "Carol"];

fn settings(folder: &std::path::Path) -> String {
    let account = |name: &&str| {
        let token = format!("lip_{}", name.to_lowercase());
        format!("{{ name = '{name}', token = '{token}', scopes = ['bot:play', 'tournament:write'] }}")
    };
    format!(
        "games = '{}'\n[lichess]\nlisten = '127.0.0.1:0'\nadmin_token = 'admin'\naccount = [{}]\n\
         [[lichess.tournament]]\nname = 'Hourly'\nid = 'abcdefgh'\ntime = '20+0.1'\nlasts = '8s'\n\
         starts_in = '1s'\npassword = 'hush'\nberserk = true\n",
        folder.display(),
        PLAYERS.iter().map(account).collect::<Vec<_>>().join(", ")
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_free_is_paired() {
    let folder = tempfile::tempdir().unwrap();
    let config: Config = toml::from_str(&settings(folder.path())).unwrap();
    let arena = Arena::bind(config).await.unwrap();
    let address = arena.lichess().unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(arena.run(stop.clone()));
    let bot = |token: &str| Bot { address: address.to_string(), token: token.into(), agent: "test".into() };
    let alice = bot("lip_alice");

    let (status, _) = alice.post("/api/tournament/abcdefgh/join", "password=wrong").await;
    assert_eq!(status, 400);
    assert_eq!(alice.get("/api/tournament/nothere1").await.0, 404);
    let made =
        r#"{"name": "Later", "time": "180+2", "lasts": "1h", "starts_in": "1h", "bots_allowed": false}"#;
    assert_eq!(alice.post("/api/zeitnot/tournament", made).await.0, 401);
    let (status, later) = bot("admin").post("/api/zeitnot/tournament", made).await;
    assert_eq!((status, &later["isStarted"]), (200, &json!(false)), "{later}");
    let join = format!("/api/tournament/{}/join", later["id"].as_str().unwrap());
    assert!(alice.refused(&join, "").await.1.contains("bots"));
    let (_, all) = alice.get("/api/tournament").await;
    assert!(all["created"].as_array().unwrap().iter().any(|one| one["fullName"] == "Later"), "{all}");

    let (shutdown, tasks) = (Shutdown::default(), TaskTracker::new());
    let mut clients = Vec::new();
    for name in PLAYERS {
        let text = format!(
            "url = 'http://{address}'\ntoken = 'lip_{}'\n[[tournament]]\nid = 'abcdefgh'\npassword = 'hush'",
            name.to_lowercase()
        );
        let config: lichess::Config = toml::from_str(&text).unwrap();
        let lobby = lobby(Kind::Random, bot::Config::default(), &shutdown.now, &tasks);
        let run = Client::run(config, lobby, shutdown.clone());
        clients.push(tokio::spawn(async move { run.await.unwrap() }));
    }

    let until = Instant::now() + LONG;
    let mut seen: Option<Value> = None;
    let table = loop {
        assert!(Instant::now() < until, "the tournament does not end");
        let (_, playing) = alice.get("/api/account/playing").await;
        seen = seen.or_else(|| playing["nowPlaying"].as_array().unwrap().first().cloned());
        let (_, table) = alice.get("/api/tournament/abcdefgh").await;
        if table["isFinished"] == true {
            break table;
        }
        sleep(Duration::from_millis(50)).await;
    };
    let game = seen.expect("alice has played");
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

    shutdown.now.cancel();
    for client in clients {
        soon("a client ends", client).await.unwrap();
    }
    stop.cancel();
    soon("the arena ends", running).await.unwrap();
    tasks.close();
    soon("the players end", tasks.wait()).await;
}

#[tokio::test]
async fn who_does_not_move_is_not_paired_again() {
    let scopes = "scopes = ['bot:play', 'tournament:write']";
    let lichess = Lichess::start(&format!(
        "first_move = '1s'\n[[lichess.tournament]]\nname = 'Hourly'\nid = 'abcdefgh'\ntime = '60+1'\nlasts = '1h'\n\
         starts_in = '0s'\n[[lichess.account]]\nname = 'Erin'\ntoken = 'lip_erin'\n{scopes}\n\
         [[lichess.account]]\nname = 'Finn'\ntoken = 'lip_finn'\n{scopes}"
    ))
    .await;
    let (erin, finn) = (lichess.bot("erin"), lichess.bot("finn"));
    for bot in [&erin, &finn] {
        bot.ok("/api/tournament/abcdefgh/join").await;
    }
    let (mut events, mut others) = (erin.events().await, finn.events().await);
    let start = events.expect("gameStart").await;
    // Who has White does nothing, and loses; the other one would play.
    let is_white = start["game"]["color"] == "white";
    let end = events.expect("gameFinish").await;
    assert_eq!(
        (&end["game"]["status"]["name"], &end["game"]["winner"]),
        (&json!("noStart"), &json!("black"))
    );
    others.expect("gameFinish").await;
    let silent = if is_white { "Erin" } else { "Finn" };
    let (_, table) = erin.get("/api/tournament/abcdefgh").await;
    for player in table["standing"]["players"].as_array().unwrap() {
        assert_eq!(player["withdraw"], player["name"] == silent, "{table}");
    }
    assert_eq!(erin.get("/api/account/playing").await.1["nowPlaying"], json!([]));
    // Back at the door, it is paired.
    let back = if is_white { &erin } else { &finn };
    back.ok("/api/tournament/abcdefgh/join").await;
    assert_ne!(events.expect("gameStart").await["game"]["gameId"], start["game"]["gameId"]);
    lichess.stop().await;
}

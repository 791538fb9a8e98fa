//! Games and tournaments of an earlier run, from the database.

use serde_json::{Value, json};
use zeitnot_testing::until;

use crate::support::{
    arena::{Board, By, TestArena, begin, word},
    lichess_arena::{self, Bot},
    log::Log,
    storage::{Storage, on_both_databases},
    web::{Browser, Spectator, TOKEN, with_page_in},
};

on_both_databases!(
    games_of_an_earlier_run_are_shown,
    rounds_of_an_earlier_run_are_shown,
    players_that_the_arena_provided_are_marked,
    tournaments_of_an_earlier_run_are_shown
);

const MATE: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

async fn open(folder: Storage) -> (TestArena, Browser) {
    let text = format!(
        "tcp = '127.0.0.1:0'\ngames = '{{folder}}/games'\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n\
         [[tournament]]\nname = 'class'\ntime = '60+0'\npairing_interval = '20ms'\npause = '0ms'\n\
         [lichess]\nlisten = '127.0.0.1:0'\n\
         account = [{{ name = 'Alice', token = 'lip_alice' }}, {{ name = 'Bob', token = 'lip_bob' }}]\n"
    );
    let arena = TestArena::open(folder, &text).await;
    let browser = Browser::new(arena.web.unwrap());
    (arena, browser)
}

/// Two people at a table of this kind, who play these moves, or any; returns the game's id.
async fn table(browser: &Browser, kind: &str, moves: [&str; 4]) -> (String, [Spectator; 2]) {
    let request = json!({ "kind": kind, "opponent": "human", "color": "white", "time_control": "60+1" });
    let (_, made) = browser.post("/api/tables", &request).await;
    let socket =
        async |token: &str| browser.socket(&format!("/api/tables/{}", made[token].as_str().unwrap())).await;
    let mut players = [socket("seat").await, socket("invitation").await];
    for (ply, mv) in moves.into_iter().enumerate() {
        let mover = &mut players[ply % 2];
        let state = loop {
            let state = mover.expect("state").await;
            if state["game"]["ply"] == ply && state["legal"] != json!([]) {
                break state;
            }
        };
        let mv = if mv.is_empty() { state["legal"][0]["uci"].as_str().unwrap() } else { mv };
        mover.send(&json!({ "move": mv, "ply": ply }).to_string()).await;
        while mover.expect("state").await["game"]["ply"] == ply {}
    }
    (made["game"].as_str().unwrap().to_owned(), players)
}

async fn games_of_an_earlier_run_are_shown(storage: Storage) {
    let (arena, browser) = open(storage).await;
    let mut board = arena.game().await;
    board.play(&MATE.join(" ")).await;
    board.black.expect("GAME_OVER").await;
    let [alice, bob] = ["lip_alice", "lip_bob"].map(|token| Bot::new(arena.lichess.unwrap(), token));
    let form = "color=white&clock.limit=60&clock.increment=0&rated=false";
    let lichess = alice.challenge("bob", form).await["id"].as_str().unwrap().to_owned();
    bob.ok(&format!("/api/challenge/{lichess}/accept")).await;
    lichess_arena::play(&alice, &bob, &lichess, &MATE.join(" ")).await;
    let (mated, _players) = table(&browser, "chess", MATE).await;
    // Chance has a part in these moves.
    let (chance, mut players) = table(&browser, "tuc", [""; 4]).await;
    players[0].send(r#"{"resign":true}"#).await;
    while players[1].expect("state").await["game"]["state"] != "ended" {}
    let (running, _running) = table(&browser, "minichess-imcs", ["a2a3", "", "", ""]).await;

    let ids = [&board.game, &lichess, &mated, &chance];
    let mut before = Vec::new();
    for id in ids {
        let (status, game) = browser.json(&format!("/api/games/{id}")).await;
        assert_eq!((status, &game["state"]), (200, &json!("ended")), "{game}");
        assert_eq!(game["round"], json!(null), "games of a round robin are numbered: {game}");
        let pgn = browser.get(&format!("/api/games/{id}/pgn")).await.text().await.unwrap();
        before.push((game, pgn));
    }
    let [_, (rated, pgn), (at_table, _), _] = &before[..] else { unreachable!() };
    assert_eq!(rated["white"], json!({ "name": "Alice", "rating": 1500, "bot": true }));
    assert!(pgn.contains("[BlackElo \"1500\"]\n[BlackTitle \"BOT\"]\n"), "{pgn}");
    assert_eq!(at_table["white"]["bot"], json!(false));
    let (_, folder) = arena.stop().await;
    let (arena, browser) = open(folder).await;
    for (id, (before, pgn_before)) in ids.into_iter().zip(before) {
        let path = format!("/api/games/{id}");
        let (status, after) = browser.json(&path).await;
        assert_eq!(status, 200, "{after}");
        assert!(after["clocks"]["white_ms"].is_u64() && after["plies"][3]["left_ms"].is_u64(), "{after}");
        assert!(after["plies"][3]["spent_ms"].is_u64(), "{after}");
        assert_eq!(after, before);
        let pgn = browser.get(&format!("{path}/pgn")).await.text().await.unwrap();
        assert_eq!(pgn, pgn_before);
        let result = before["result"].as_str().unwrap();
        assert!(pgn.split_whitespace().last() == Some(result) && pgn.contains(id.as_str()), "{pgn}");
    }
    let (_, game) = browser.json(&format!("/api/games/{running}")).await;
    assert_eq!((&game["result"], game["plies"].as_array().unwrap().len()), (&json!("*"), 4), "{game}");
    let mut spectator = browser.live().await;
    spectator.send(&json!({ "watch": { "game": mated } }).to_string()).await;
    assert_eq!(spectator.expect("game").await["game"]["result"], "0-1");
    let long = "a".repeat(65);
    for id in ["nothing", "%27%20OR%201=1--", "..%2f..", "%00", &long, &mated[1..]] {
        assert_eq!(browser.json(&format!("/api/games/{id}")).await.0, 404, "{id}");
    }
    // Games of tables are not listed.
    let listed = browser.json("/api/games").await.1["games"].clone();
    assert_eq!(
        [&listed[0]["id"], &listed[1]["id"], &listed[2]],
        [&json!(lichess), &json!(board.game), &Value::Null]
    );
    arena.stop().await;
}

/// Two players of a tournament play a game, which White loses; returns its id.
async fn play(arena: &TestArena, tournament: &str) -> String {
    let mut players = Vec::new();
    for name in ["alice", "bob"] {
        players.push(arena.say(name, &format!("JOIN {tournament} {name}")).await);
    }
    let [mut alice, mut bob] = <[_; 2]>::try_from(players).ok().unwrap();
    let paired = begin(&mut alice, &mut bob).await;
    let mut board = Board::new(paired, alice, bob);
    board.play(&MATE.join(" ")).await;
    board.over().await;
    board.white.expect(&format!("INFO Tournament {tournament} is over")).await;
    board.game
}

/// A view without what belongs to connections, and what the database does not keep.
fn without_connections(mut view: Value) -> Value {
    for field in ["joins", "clocks", "started", "correctable"] {
        view[field].take();
    }
    for player in view["players"].as_array_mut().into_iter().flatten() {
        player["present"].take();
    }
    view
}

/// Files with the results of a tournament.
async fn results(browser: &Browser, tournament: &str) -> [String; 3] {
    let mut files = ["csv", "pgn", "json"].map(str::to_owned);
    for file in &mut files {
        let answer = browser.get(&format!("{tournament}/results.{file}")).await;
        assert_eq!(answer.status(), 200, "{tournament}: {file}");
        *file = answer.text().await.unwrap();
    }
    files
}

async fn tournaments_of_an_earlier_run_are_shown(storage: Storage) {
    let settings = "players = 2\ngames_per_pair = 1\n";
    let (arena, browser) = with_page_in(storage, settings).await;
    let first = play(&arena, "class").await;
    let cup = json!({"name": "cup", "time_control": "60+0", "players": 2, "start": "full", "games_per_pair": 1,
        "pairing_interval": "20ms", "pause": "0s"});
    assert_eq!(browser.order("POST", "/api/tournaments", cup).await.0, 201);
    let second = play(&arena, "cup").await;
    let complete = async |path: &str| {
        let (_, tournament) = browser.json(path).await;
        (tournament["state"] == "complete").then_some(tournament)
    };
    let mut before = Vec::new();
    for name in ["class", "cup"] {
        let path = format!("/api/tournaments/{name}");
        until("the end", async || complete(&path).await.is_some()).await;
        before.push((complete(&path).await.unwrap(), results(&browser, &path).await));
    }
    let games = browser.json("/api/games").await.1["games"].clone();
    let (_, folder) = arena.stop().await;

    let log = Log::capture();
    let (arena, browser) = with_page_in(folder, settings).await;
    // The tournament of the configuration begins anew.
    let told = "class: edition 1 is kept, and edition 2 begins";
    assert_eq!((log.count(told), log.count("is kept, and edition")), (1, 1), "{}", log.text());
    let (_, anew) = browser.json("/api/tournaments/class").await;
    assert_eq!((&anew["edition"], &anew["state"]), (&json!(2), &json!("waiting")), "{anew}");
    let (_, list) = browser.json("/api/tournaments").await;
    let editions = list["tournaments"].as_array().unwrap().iter().map(|it| (&it["name"], &it["edition"]));
    let expected =
        [("class", 2), ("cup", 1), ("class", 1)].map(|(name, edition)| (json!(name), json!(edition)));
    assert_eq!(editions.collect::<Vec<_>>(), expected.each_ref().map(|(name, edition)| (name, edition)));
    for ((name, at), (before, files)) in [("class%201", 2), ("cup", 1)].into_iter().zip(before) {
        let path = format!("/api/tournaments/{name}");
        let (status, after) = browser.json(&path).await;
        assert_eq!(status, 200, "{after}");
        // Only the run that has it takes corrections.
        assert_eq!((&before["correctable"], &after["correctable"]), (&json!(true), &json!(false)));
        let (before, after) = (without_connections(before), without_connections(after));
        assert_eq!(after, before);
        let mut listed = after;
        for field in ["pairings", "refusals"] {
            listed.as_object_mut().unwrap().remove(field);
        }
        assert_eq!(without_connections(list["tournaments"][at].clone()), listed);
        assert_eq!(results(&browser, &path).await, files);
    }
    let mut spectator = browser.live().await;
    spectator.send(r#"{"watch":{"tournament":"cup"}}"#).await;
    assert_eq!(spectator.expect("tournament").await["tournament"]["state"], "complete");
    for missing in ["cup%202", "class%203", "class%20x", "cap"] {
        assert_eq!(browser.json(&format!("/api/tournaments/{missing}")).await.0, 404, "{missing}");
    }

    let rows = |games: &Value| -> Vec<Value> {
        games.as_array().unwrap().iter().cloned().map(without_connections).collect()
    };
    let (_, page) = browser.json("/api/games").await;
    assert_eq!((rows(&page["games"]), &page["older"]), (rows(&games), &json!(first)));
    let (_, older) = browser.json(&format!("/api/games?before={second}")).await;
    assert_eq!((rows(&older["games"]), &older["older"]), (rows(&games)[1..].to_vec(), &Value::Null));
    for last in [&first[..], "nothing", "%27"] {
        let (_, none) = browser.json(&format!("/api/games?before={last}")).await;
        assert_eq!(none, json!({"games": [], "older": null}));
    }
    let id = browser.json("/api/tournaments?before=9223372036854775807").await.1;
    assert_eq!(id["tournaments"].as_array().unwrap().len(), 2, "{id}");
    assert_eq!(browser.json("/api/tournaments?before=0").await.1["tournaments"], json!([]));
    assert_eq!(browser.json("/api/tournaments?before=x").await.0, 400);
    arena.stop().await;
}

async fn players_that_the_arena_provided_are_marked(storage: Storage) {
    let settings = "engines = ['random', 'greedy']\nplayers = 2\ngames_per_pair = 1\n";
    let (arena, browser) = with_page_in(storage, settings).await;
    let is_over = async || browser.json("/api/tournaments/class").await.1["state"] == "complete";
    until("the end", is_over).await;
    let (_, folder) = arena.stop().await;

    let (arena, browser) = with_page_in(folder, settings).await;
    let (_, shown) = browser.json("/api/tournaments/class%201").await;
    let is_marked = |player: &Value| player["engine"] == true && player["rating"].is_i64();
    assert_eq!(shown["players"].as_array().unwrap().iter().filter(|it| is_marked(it)).count(), 2, "{shown}");
    arena.stop().await;
}

async fn rounds_of_an_earlier_run_are_shown(storage: Storage) {
    let config = format!(
        "tcp = '127.0.0.1:0'\ngames = '{{folder}}/games'\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n\
         [[tournament]]\nname = 'class'\ntime = '60+0'\npairing_interval = '20ms'\npause = '0ms'\n\
         pairing = 'swiss'\nrounds = 2\nplayers = 3\n"
    );
    let arena = TestArena::open(storage, &config).await;
    let mut players = Vec::new();
    for name in ["alice", "bob", "carol"] {
        players.push(arena.join(By::Tcp, name).await);
    }
    // Of three, two play and one has a bye.
    let mut games = Vec::new();
    for player in &mut players[..2] {
        let paired = player.expect("GAME_PAIRED").await;
        player.ack(&paired).await;
        games.push(word(&paired, 1).to_owned());
    }
    assert_eq!(games[0], games[1]);
    players[0].expect("GAME_STARTED").await;
    players[0].send(&format!("RESIGN {}", games[0])).await;
    players[0].expect("GAME_OVER").await;
    let round = async |arena: &TestArena| {
        let path = format!("/api/games/{}", games[0]);
        Browser::new(arena.web.unwrap()).json(&path).await.1["round"].clone()
    };
    assert_eq!(round(&arena).await, 1);
    let (_, folder) = arena.stop().await;

    let arena = TestArena::open(folder, &config).await;
    let browser = Browser::new(arena.web.unwrap());
    let shown = async || {
        let (status, tournament) = browser.json("/api/tournaments/class").await;
        status == 200 && tournament["pairings"].as_array().unwrap().len() >= 2
    };
    until("the round is shown", shown).await;
    let pairings = browser.json("/api/tournaments/class").await.1["pairings"].clone();
    let of_round = |row: &&Value| row["round"] == 1;
    let first: Vec<_> = pairings.as_array().unwrap().iter().filter(of_round).collect();
    let bye = first.iter().find(|row| row["black"].is_null()).unwrap();
    assert_eq!((&bye["white"], &bye["result"]), (&json!("carol"), &json!("1-0")));
    let game = first.iter().find(|row| row["game"] == games[0].as_str()).unwrap();
    assert!(["1-0", "0-1"].contains(&game["result"].as_str().unwrap()), "{game}");
    assert_eq!(first.len(), 2, "{pairings}");
    assert_eq!(round(&arena).await, 1);
    arena.stop().await;
}

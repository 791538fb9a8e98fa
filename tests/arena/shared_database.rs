//! Arenas on a PostgreSQL server: several on one database, and a server that goes away in mid-tournament.

use serde_json::json;
use zeitnot_arena::Arena;
use zeitnot_testing::until;

use crate::support::{
    arena::{TestArena, results, word},
    command::{err, zeitnot},
    files,
    storage::{
        Storage,
        postgres::{PASSWORD, PostgresServer, USER},
    },
    web::{Browser, TOKEN, with_page_in, without_tournament},
};

const MATE: &str = "f2-f3 e7-e5 g2-g4 d8-h4";

#[test]
async fn two_arenas_on_one_database_each_run_their_own_tournaments() {
    let Some(storage) = Storage::server() else { return };
    let url = storage.database();
    let (first, page) = with_page_in(storage, "players = 2\ngames_per_pair = 2").await;
    let (second, other_page) = without_tournament(Storage::of(url.clone())).await;
    let (status, _) =
        other_page.order("POST", "/api/tournaments", json!({ "name": "cup", "time_control": "60+0" })).await;
    assert_eq!(status, 201);
    let mut board = first.game().await;
    board.play(MATE).await;
    assert_eq!(board.over().await, "0-1 Checkmate");

    // Each page lists and manages its own; a link to a game shows it everywhere.
    let names = async |page: &Browser| {
        let (_, list) = page.json("/api/tournaments").await;
        let list = list["tournaments"].as_array().unwrap().clone();
        list.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names(&page).await, names(&other_page).await), (vec!["class".into()], vec!["cup".into()]));
    let (status, game) = other_page.json(&format!("/api/games/{}", board.game)).await;
    assert_eq!((status, &game["result"]), (200, &json!("0-1")));
    let (status, _) = other_page.order("POST", "/api/tournaments/class/pause", json!({})).await;
    assert_eq!(status, 404);
    let (status, told) = other_page
        .order("POST", "/api/tournaments", json!({ "name": "class", "time_control": "60+0" }))
        .await;
    let told = told["error"].as_str().unwrap();
    assert_eq!(status, 409, "{told}");
    assert!(told.contains("another arena on this database runs the tournament 'class'"), "{told}");
    assert!(results(&url, &[]).contains("class: chess at 60+0, running"));

    // A third one that asks for the same tournament does not start.
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "tcp = '127.0.0.1:0'\ngames = '{}/games'\ndatabase = '{url}'\n[[tournament]]\nname = 'class'\ntime = '60+0'\n",
        folder.path().display()
    );
    let refused = Arena::bind(toml::from_str(&config).unwrap()).await.unwrap_err().to_string();
    let reason = "another arena on this database runs the tournament 'class'; stop that one, or give this one another name";
    assert_eq!(refused, format!("cannot use the database {url}: {reason}"));

    // What the second one has created is taken up by whoever starts when it has ended, and the rest is not.
    second.stop().await;
    let (third, page) = without_tournament(Storage::of(url)).await;
    assert_eq!(names(&page).await, ["cup"]);
    first.stop().await;
    third.stop().await;
}

#[test]
async fn a_dump_is_restored() {
    let Some(server) = PostgresServer::shared() else { return };
    let [from, to] = [server.create(), server.create()];
    let settings = "players = 2\ngames_per_pair = 1";
    let arena = TestArena::tournament(Storage::of(server.url(&from)), "", settings).await;
    let mut board = arena.game().await;
    board.play(MATE).await;
    board.over().await;
    let (_, storage) = arena.end().await;
    let dump = storage.path().join("dump").display().to_string();
    server.run("pg_dump", &from, &["--format=custom", "--file", &dump]);
    server.run("pg_restore", &to, &[&dump]);
    let [before, after] = [from, to].map(|name| results(&server.url(&name), &["class", "--json"]));
    assert_eq!(before, after);
}

#[test]
fn the_password_comes_from_the_environment_or_a_file() {
    let Some(server) = PostgresServer::shared() else { return };
    let name = server.create();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("postgres://{USER}@127.0.0.1:{}/{name}", server.port);
    let told = |variable: &str, value: &str| {
        let mut command = zeitnot(&["arena", "results", "--database", &url]);
        err(&command.env(variable, value).output().unwrap()).to_owned()
    };
    let file = folder.path().join("passwords");
    files::write(&file, format!("127.0.0.1:{}:{name}:{USER}:{PASSWORD}\n", server.port), 0o600);
    for told in [told("PGPASSWORD", PASSWORD), told("PGPASSFILE", &file.display().to_string())] {
        assert!(told.contains(&format!("cannot read the database {url}: it is empty")), "{told}");
    }
    let told = told("PGPASSWORD", "open");
    assert!(told.contains("password authentication failed") && !told.contains("open"), "{told}");
}

#[test]
async fn a_tournament_goes_on_while_the_server_is_away() {
    let Some(server) = PostgresServer::start() else { return };
    let url = server.url(&server.create());
    let text = format!(
        "tcp = '127.0.0.1:0'\ngames = '{{folder}}/games'\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n\
         [[tournament]]\nname = 'class'\ntime = '60+0'\npairing_interval = '20ms'\npause = '0ms'\n"
    );
    let arena = TestArena::open(Storage::of(url.clone()), &text).await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5").await;
    server.order("stop");
    board.white.expect("YOUR_MOVE").await;
    board.white.send(&format!("MOVE {} g2-g4", board.game)).await;
    board.black.expect("YOUR_MOVE").await;
    board.black.send(&format!("MOVE {} d8-h4", board.game)).await;
    assert_eq!(board.over().await, "0-1 Checkmate");
    // The next game is paired and played meanwhile.
    let paired = board.white.expect("GAME_PAIRED").await;
    for player in [&mut board.white, &mut board.black] {
        player.ack(&paired).await;
    }
    board.white.expect("GAME_STARTED").await;
    board.white.send(&format!("RESIGN {}", word(&paired, 1))).await;
    board.white.expect("GAME_OVER").await;
    server.order("start");
    let page = Browser::new(arena.web.unwrap());
    let stored = async || page.get(&format!("/api/games/{}/pgn", board.game)).await.status() == 200;
    until("the page reads the database again", stored).await;
    let both = async || results(&url, &["class"]).ends_with("games: 2 over\n");
    until("both results are written", both).await;
    arena.stop().await;
}

//! Tournaments that the organiser creates and changes by the API.

use serde_json::{Value, json};
use zeitnot_arena::Event;
use zeitnot_host::database::{Database, Opening, SettingsText};
use zeitnot_pairing::{Name, format::Format};
use zeitnot_rules::GameKind;
use zeitnot_testing::soon;

use crate::support::{
    arena::{Board, TestArena, begin, results},
    log::Log,
    storage::{Storage, on_both_databases},
    web::{Browser, TOKEN, with_page_in, without_tournament},
};

on_both_databases!(
    a_created_tournament_is_played_and_goes_on_after_a_restart,
    keys_are_shown_once_and_settings_change_until_somebody_is_paired,
    changed_settings_hold_for_those_who_have_joined,
    an_engine_gets_nobodys_name,
    players_of_the_arena_are_shown_and_have_ratings_in_chess,
    mistakes_are_told_and_change_nothing,
    damaged_settings_are_told_at_the_start_and_the_arena_runs,
    a_tournament_of_the_configuration_stays_as_it_is,
    refusals_are_told_and_kept
);

/// Quick settings of a tournament `club`.
fn club(more: Value) -> Value {
    let mut settings = json!({"name": "club", "time_control": "60+0", "players": 2, "start": "full",
        "pairing_interval": "20ms", "pause": "0s"});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

async fn create(browser: &Browser, more: Value) {
    let (status, answer) = browser.order("POST", "/api/tournaments", club(more)).await;
    assert_eq!((status, &answer["name"]), (201, &json!("club")), "{answer}");
}

/// The only line that somebody hears who is refused.
async fn refusal(arena: &TestArena, join: &str) -> String {
    let [line] = arena.say("guest", join).await.rest().await.try_into().unwrap();
    line
}

/// Alice and bob play a game, which White loses.
async fn play(arena: &TestArena) {
    let mut alice = arena.say("alice", "JOIN club alice sesame").await;
    let mut bob = arena.say("bob", "JOIN club bob sesame").await;
    let game = begin(&mut alice, &mut bob).await;
    let mut board = Board::new(game, alice, bob);
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    assert_eq!(board.over().await, "0-1 Checkmate");
}

async fn a_created_tournament_is_played_and_goes_on_after_a_restart(storage: Storage) {
    let (arena, browser) = without_tournament(storage).await;
    create(&browser, json!({"access": {"password": "sesame"}})).await;
    let lines = browser.json("/api/tournaments/club").await.1["joins"].clone();
    assert_eq!(lines[0]["line"], "JOIN club NAME PASSWORD");
    assert!(refusal(&arena, "JOIN club alice").await.contains("requires a key"));
    play(&arena).await;
    let (_, folder) = arena.stop().await;
    let (arena, browser) = without_tournament(folder).await;
    let (_, settings) = browser.order("GET", "/api/tournaments/club/settings", Value::Null).await;
    assert_eq!((&settings["access"], &settings["players"]), (&json!("password"), &json!(2)));
    assert!(refusal(&arena, "JOIN club carol open").await.contains("not the key"));
    play(&arena).await;
    let (summary, folder) = arena.stop().await;
    assert_eq!(summary.tournaments.len(), 1);
    assert!(summary.tournaments[0].complete);
    let table = results(&folder.database(), &["club", "--csv"]);
    assert_eq!(table.lines().filter(|line| line.ends_with(",1,0,1,0,0,")).count(), 2, "{table}");
    // It is complete, so the next arena only shows it.
    let (arena, browser) = without_tournament(folder).await;
    let listed = browser.json("/api/tournaments").await.1["tournaments"].clone();
    assert_eq!((&listed[0]["name"], &listed[0]["state"]), (&json!("club"), &json!("complete")), "{listed}");
    assert!(refusal(&arena, "JOIN club alice sesame").await.contains("Unknown tournament club"));
    arena.stop().await;
}

async fn keys_are_shown_once_and_settings_change_until_somebody_is_paired(storage: Storage) {
    let (arena, browser) = without_tournament(storage).await;
    create(&browser, json!({"access": {"keys": ["alice"]}})).await;
    let keys = "/api/tournaments/club/keys";
    let (status, drawn) = browser.order("POST", keys, json!({"names": ["alice", "bob"]})).await;
    let line = |at: usize| drawn["keys"][at]["line"].as_str().unwrap().to_owned();
    assert_eq!((status, drawn["keys"][1]["name"].as_str()), (200, Some("bob")));
    let key = drawn["keys"][0]["key"].as_str().unwrap();
    assert_eq!(line(0), format!("JOIN club alice {key}"));
    for path in ["/api/tournaments/club", "/api/tournaments/club/settings", "/api/tournaments"] {
        let shown = browser.order("GET", path, Value::Null).await.1.to_string();
        assert!(!shown.contains(key), "{shown}");
    }
    // A new key takes the place of the old one.
    let (_, again) = browser.order("POST", keys, json!({"names": ["alice"]})).await;
    assert!(refusal(&arena, &line(0)).await.contains("not the key"));
    let mut alice = arena.say("alice", again["keys"][0]["line"].as_str().unwrap()).await;
    let mut bob = arena.say("bob", &line(1)).await;
    let game = begin(&mut alice, &mut bob).await;
    let edit = json!({"time_control": "30+0"});
    let (status, error) = browser.order("PATCH", "/api/tournaments/club", edit).await;
    assert_eq!(status, 409, "{error}");
    Board::new(game, alice, bob).play("e2-e4").await;
    arena.stop().await;
}

async fn changed_settings_hold_for_those_who_have_joined(storage: Storage) {
    let (arena, browser) = without_tournament(storage).await;
    create(&browser, json!({"players": 3})).await;
    let mut alice = arena.say("alice", "JOIN club alice").await;
    let mut bob = arena.say("bob", "JOIN club bob").await;
    alice.expect("INFO Player bob joined").await;
    let edit = json!({"players": 2, "time_control": "30+1", "access": {"password": "sesame"}});
    let (status, tournament) = browser.order("PATCH", "/api/tournaments/club", edit).await;
    assert_eq!((status, &tournament["time_control"]), (200, &json!("30+1")), "{tournament}");
    assert!(begin(&mut alice, &mut bob).await.ends_with("30.00 1.00"));
    arena.stop().await;
}

async fn an_engine_gets_nobodys_name(storage: Storage) {
    let (arena, browser) = without_tournament(storage).await;
    create(&browser, json!({"players": 3})).await;
    let mut student = arena.say("random", "JOIN club random").await;
    student.expect("INFO You joined").await;
    let edit = async |engines: Value| {
        browser.order("PATCH", "/api/tournaments/club", json!({ "engines": engines })).await
    };
    let (status, refused) = edit(json!(["greedy", "random"])).await;
    let why =
        "engines: a player called random has already joined: leave that engine out, or remove the player";
    assert_eq!((status, &refused["error"]), (409, &json!(why)));
    assert_eq!(edit(json!(["greedy"])).await.0, 200);
    student.expect("INFO Player greedy joined").await;
    let players = browser.json("/api/tournaments/club").await.1["players"].clone();
    let row = players.as_array().unwrap().iter().find(|player| player["name"] == "random").unwrap();
    assert_eq!((&row["engine"], &row["rating"]), (&json!(false), &Value::Null));
    arena.stop().await;
}

/// Openings as long as they may be.
fn openings(count: usize) -> Value {
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    json!({ "openings": vec![format!("{fen:<200}"); count] })
}

async fn players_of_the_arena_are_shown_and_have_ratings_in_chess(storage: Storage) {
    let (mut arena, browser) = without_tournament(storage).await;
    let provided = browser.json("/api/engines").await.1["engines"].clone();
    let rating = provided[0]["rating"].as_i64().unwrap();
    let games = provided[0]["games"].clone();
    assert_eq!(provided[0], json!({"name": "random", "rating": rating, "built_in": true, "games": games}));
    let (status, refused) = browser.order("POST", "/api/tournaments", club(openings(1001))).await;
    assert_eq!((status, &refused["error"]), (400, &json!("openings: at most 1000 positions")));
    let mut settings = openings(1000);
    settings["game"] = json!("atomic");
    settings["engines"] = json!(["random", "greedy"]);
    settings["games_per_pair"] = json!(1);
    create(&browser, settings).await;
    let over = async { while !matches!(arena.news.recv().await.unwrap().event, Event::Over(_)) {} };
    soon("their game", over).await;
    let (_, folder) = arena.stop().await;
    let (arena, browser) = without_tournament(folder).await;
    let shown = browser.json("/api/tournaments/club").await.1;
    assert_eq!(shown["kind"], "atomic");
    assert_eq!((&shown["openings"], &shown["chess960"]), (&json!(true), &json!(false)));
    let players = shown["players"].as_array().unwrap();
    assert!(players.len() == 2 && players.iter().all(|player| player["engine"] == true), "{shown}");
    let random = players.iter().find(|player| player["name"] == "random").unwrap();
    assert_eq!(random["rating"], Value::Null);
    let id = shown["pairings"][0]["game"].as_str().unwrap();
    let game = browser.json(&format!("/api/games/{id}")).await.1;
    let side = if game["white"]["name"] == "random" { "white" } else { "black" };
    assert_eq!(game[side], json!({"name": "random", "rating": null, "bot": true}));
    arena.stop().await;
}

/// Refusals of single values: the page shows them at their fields.
#[test]
async fn refusals_of_values_begin_with_their_field_and_name_no_place_in_the_json() {
    let (arena, browser) = without_tournament(Storage::file()).await;
    create(&browser, json!({})).await;
    for (field, value) in [
        ("name", json!("..")),
        ("game", json!("go")),
        ("time_control", json!("1000000000")),
        ("pause", json!("forever")),
        ("players", json!("six")),
        ("gauntlet", json!(["a b"])),
        ("access", json!({"keys": ["a b"]})),
    ] {
        let mut settings = club(json!({"name": "new"}));
        settings[field] = value.clone();
        let create = ("POST", "/api/tournaments", settings);
        for (method, path, body) in [create, ("PATCH", "/api/tournaments/club", json!({ field: value }))] {
            let (status, answer) = browser.order(method, path, body).await;
            let error = answer["error"].as_str().unwrap();
            let has_field = error.strip_prefix(field).is_some_and(|rest| rest.starts_with([':', '.', '[']));
            let is_plain = has_field && !error.contains(" at line ");
            assert!((400..=422).contains(&status) && is_plain, "{method} {field}: {status} {error}");
        }
    }
    let (status, answer) = browser.order("POST", "/api/tournaments/club/late", json!({"allowed": 1})).await;
    let error = "allowed: invalid type: integer `1`, expected a boolean";
    assert_eq!((status, answer), (422, json!({ "error": error })));
    arena.stop().await;
}

async fn mistakes_are_told_and_change_nothing(storage: Storage) {
    let (arena, browser) = without_tournament(storage).await;
    create(&browser, json!({})).await;
    let before = browser.json("/api/tournaments").await;
    let named = |name: &str| json!({"name": name, "time_control": "3"});
    for (method, path, body, expected, why) in [
        ("POST", "/api/tournaments", club(json!({})), 409, "name: tournament club already exists"),
        ("POST", "/api/tournaments", named("\u{441}lub"), 422, "mixes letters"),
        ("POST", "/api/tournaments", named("c1ub"), 409, "looks like club"),
        ("POST", "/api/tournaments", named(".."), 422, "stands for a folder"),
        ("POST", "/api/tournaments", json!({"name": "new"}), 422, "time_control"),
        ("POST", "/api/tournaments", json!([]), 422, "expected"),
        ("PATCH", "/api/tournaments/club", json!({"name": "other"}), 400, "create another one"),
        (
            "PATCH",
            "/api/tournaments/club",
            json!({"openings": "/etc/passwd"}),
            400,
            "openings: expected a list",
        ),
        (
            "PATCH",
            "/api/tournaments/club",
            json!({"players": 1}),
            400,
            "players: expected a whole number from 2",
        ),
        (
            "PATCH",
            "/api/tournaments/club",
            json!({"players": 101}),
            400,
            "is above arena.max_connections_per_address",
        ),
        ("PATCH", "/api/tournaments/club", json!({"games_per_pair": 50_001}), 400, "more than 50000 games"),
        (
            "PATCH",
            "/api/tournaments/club",
            json!({"openings": ["", "# x", "8/8"]}),
            400,
            "openings: line 3: ",
        ),
        ("PATCH", "/api/tournaments/club", json!({"engines": ["deep-thought"]}), 400, "engines: "),
        ("PATCH", "/api/tournaments/nothing", json!({}), 404, "no tournament nothing"),
        ("POST", "/api/tournaments/club/keys", json!({"names": ["alice"]}), 409, "requires no keys"),
        ("GET", "/api/tournaments/nothing/settings", Value::Null, 404, "no tournament nothing"),
    ] {
        let body_text = body.to_string();
        let (status, answer) = browser.order(method, path, body).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(status == expected && error.contains(why), "{method} {path} {body_text}: {status} {error}");
        let json = [("content-type", "application/json")];
        let stranger = browser.ask(method, path, &json, body_text.into_bytes()).await;
        assert_eq!(stranger.status(), 401, "{method} {path}");
    }
    assert_eq!(browser.json("/api/tournaments").await, before);
    arena.stop().await;
}

/// Writes an unfinished tournament with these settings, as an organiser has created it.
async fn keep(database: &Database, name: &str, settings: &Value) {
    let opening = Opening {
        name: Name::try_from(name).unwrap(),
        kind: GameKind::Chess,
        time_control: "60+0".parse().unwrap(),
        format: Format::default(),
        created: Some(SettingsText(settings.to_string())),
    };
    database.open_tournament(opening).await.unwrap();
}

async fn damaged_settings_are_told_at_the_start_and_the_arena_runs(storage: Storage) {
    let access = json!({"password": "sesame"});
    let old = json!({"name": "old", "kind": "chess", "time_control": "30+0", "access": access});
    std::fs::create_dir_all(storage.path().join("games")).unwrap();
    let (database, writer) = Database::open(storage.database().parse().unwrap(), || ()).await.unwrap();
    keep(&database, "old", &old).await;
    let club = json!({"name": "club", "time_control": "60+0", "pairing": "danish", "access": access});
    keep(&database, "club", &club).await;
    drop(database);
    writer.join().await;
    let log = Log::capture();
    let (arena, browser) = without_tournament(storage).await;
    let why = "club: its settings in the database cannot be read (pairing: unknown variant `danish`";
    assert_eq!((log.count(why), log.count("sesame")), (1, 0), "{}", log.text());
    let (status, settings) = browser.order("GET", "/api/tournaments/old/settings", Value::Null).await;
    assert_eq!((status, &settings["games_per_pair"]), (200, &json!(2)), "{settings}");
    assert_eq!(browser.order("GET", "/api/tournaments/club/settings", Value::Null).await.0, 404);
    create(&browser, json!({"access": access})).await;
    play(&arena).await;
    arena.stop().await;
}

/// Invalid fields of settings.
const HOSTILE: [&str; 45] = [
    r#""name":"new","name":"newer""#,
    r#""name":"""#,
    r#""name":".""#,
    r#""name":"a b""#,
    r#""name":"a\u0000b""#,
    r#""name":"a\u202eb""#,
    r#""name":["new"]"#,
    r#""name":null"#,
    r#""game":"go""#,
    r#""game":"chess","game":"chess""#,
    r#""time_control":"NaN""#,
    r#""time_control":"inf""#,
    r#""time_control":"-3""#,
    r#""time_control":"1e300""#,
    r#""time_control":"1e-300""#,
    r#""time_control":"3+""#,
    r#""time_control":"3+-1""#,
    r#""time_control":"0+5""#,
    r#""time_control":3"#,
    r#""players":1e999"#,
    r#""players":6.0"#,
    r#""players":-1"#,
    r#""players":18446744073709551616"#,
    r#""players":[6]"#,
    r#""players":101,"start":"full""#,
    r#""players":6,"start":"at-once""#,
    r#""start":"full""#,
    r#""rounds":3"#,
    r#""games_per_pair":0"#,
    r#""games_per_pair":50001"#,
    r#""games_per_pair":"2""#,
    r#""max_illegal_moves":4294967296"#,
    r#""late_entries":"yes""#,
    r#""pause":"-1s""#,
    r#""pause":"99999999999999999999y""#,
    r#""pause":5"#,
    r#""pause":null"#,
    r#""pairing_interval":"0s""#,
    r#""ack_timeout":"0s""#,
    r#""tie_breaks":["wins","wins"]"#,
    r#""gauntlet":["alice"]"#,
    r#""access":{"password":""}"#,
    r#""access":{"password":"a","password":"b"}"#,
    r#""access":["open"]"#,
    r#""name_held":"1m""#,
];

#[test]
async fn hostile_settings_are_refused_in_a_line_and_change_nothing() {
    let (arena, browser) = without_tournament(Storage::file()).await;
    let club = json!({"name": "club", "time_control": "60+0"});
    assert_eq!(browser.order("POST", "/api/tournaments", club).await.0, 201);
    let before = browser.json("/api/tournaments").await;
    let names = |count: usize| json!((0..count).map(|at| format!("p{at}")).collect::<Vec<_>>()).to_string();
    let large = [
        format!(r#""gauntlet":{},"pairing":"gauntlet""#, names(2000)),
        format!(r#""access":{{"keys":{}}}"#, names(2000)),
        format!(r#""tie_breaks":[{}"wins"]"#, r#""wins","#.repeat(5000)),
        format!(r#""{}":1"#, "x".repeat(60_000)),
        format!(r#""game":"{}""#, "x".repeat(60_000)),
        format!(r#""pause":{}1{}"#, "[".repeat(20_000), "]".repeat(20_000)),
        r#""\u001b[2J\n\u202e":1"#.to_owned(),
        r#""pairing":"\u001b[2J\n\u202e""#.to_owned(),
    ];
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    for fields in HOSTILE.into_iter().chain(large.iter().map(String::as_str)) {
        let time = if fields.contains("time_control") { "" } else { r#""time_control":"3","# };
        let name = if fields.contains(r#""name""#) { "" } else { r#""name":"new","# };
        for (method, path, body) in [
            ("POST", "/api/tournaments", format!("{{{name}{time}{fields}}}")),
            ("PATCH", "/api/tournaments/club", format!("{{{fields}}}")),
        ] {
            let answer = browser.ask(method, path, &headers, body.into_bytes()).await;
            let status = answer.status();
            let told: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            let error = told["error"].as_str().unwrap_or_default();
            let shown = fields.get(..80).unwrap_or(fields);
            assert!(status.is_client_error() && !error.is_empty(), "{method} {shown}: {status} {error}");
            let is_plain = error.len() < 5000 && !error.contains(|c: char| c.is_control() || c == '\u{202e}');
            assert!(is_plain, "{method} {shown}: {error}");
        }
    }
    assert_eq!(browser.json("/api/tournaments").await, before);
    arena.stop().await;
}

async fn a_tournament_of_the_configuration_stays_as_it_is(storage: Storage) {
    let (arena, page) = with_page_in(storage, "").await;
    for method in ["PATCH", "DELETE"] {
        let (status, answer) = page.order(method, "/api/tournaments/class", json!({})).await;
        let why = "one of the configuration file: change it there";
        assert!(status == 409 && answer["error"].as_str().unwrap().contains(why), "{method}: {answer}");
    }
    assert_eq!(page.json("/api/tournaments/class").await.0, 200);
    arena.stop().await;
}

/// Names and reasons in a list of refusals.
fn rows(refusals: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    refusals.as_array().unwrap().iter().map(|row| (text(&row["name"]), text(&row["reason"]))).collect()
}

/// Refusals of a tournament, once there are so many.
async fn refused(page: &Browser, tournament: &str, count: usize) -> Vec<(String, String)> {
    let mut spectator = page.live().await;
    spectator.send(&json!({"watch": {"tournament": tournament}}).to_string()).await;
    loop {
        let shown = rows(&spectator.expect("tournament").await["tournament"]["refusals"]);
        if shown.len() == count {
            return shown;
        }
    }
}

async fn refusals_are_told_and_kept(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    create(&page, json!({"access": {"password": "sesame"}})).await;
    let hasty = json!({"name": "hasty", "time_control": "3", "start": "at-once", "ack_timeout": "1ms"});
    page.order("POST", "/api/tournaments", hasty).await;
    // No player acknowledges.
    let mut idle = [arena.say("idle", "JOIN hasty idle").await, arena.say("lazy", "JOIN hasty lazy").await];
    idle[0].expect("INFO You joined tournament hasty (1 active players)").await;
    idle[0].rest().await;
    for (line, why) in [
        ("JOIN clap alice", "Unknown tournament clap"),
        ("JOIN club alice guess", "That is not the key for alice"),
        ("JOIN club a\u{200b}b sesame", "invisible"),
        ("JOIN club alice guess", "That is not the key for alice"),
    ] {
        assert!(refusal(&arena, line).await.contains(why), "{line}");
    }
    let mut alice = arena.say("alice", "JOIN club alice sesame").await;
    let greeting = alice.next().await.unwrap();
    assert_eq!(greeting, "INFO You joined tournament club (1 active players); play begins when it is full");
    let mut bob = arena.say("bob", "JOIN club bob sesame").await;
    let game = begin(&mut alice, &mut bob).await;
    assert!(refusal(&arena, "JOIN club carol sesame").await.contains("is full"));
    let mut board = Board::new(game, alice, bob);
    board.white.expect("YOUR_MOVE").await;
    for _ in 0..100 {
        board.white.send(&format!("MOVE {} a1-a8", board.game)).await;
    }
    let cheat = board.white.name.clone();
    board.black.expect("GAME_OVER").await;
    let club = refused(&page, "club", 4).await;
    assert_eq!(club[1], ("alice".to_owned(), "That is not the key for alice".to_owned()), "{club:?}");
    assert_eq!(club[3], (cheat, "You have sent 100 illegal moves in a row".to_owned()));
    let hasty = refused(&page, "hasty", 2).await;
    assert!(hasty.iter().all(|(_, reason)| reason.contains("not acknowledge")), "{hasty:?}");
    let others = page.order("GET", "/api/refusals", Value::Null).await.1["refusals"].clone();
    assert_eq!(
        rows(&others),
        [("alice".to_owned(), "Unknown tournament clap; the arena has: club, hasty".to_owned())]
    );
    assert_eq!(page.json("/api/refusals").await.0, 401);
    let (_, folder) = arena.stop().await;
    let (arena, page) = without_tournament(folder).await;
    assert_eq!((refused(&page, "club", 4).await, refused(&page, "hasty", 2).await), (club, hasty));
    let again = page.order("GET", "/api/refusals", Value::Null).await.1["refusals"].clone();
    assert_eq!(again, others);
    arena.stop().await;
}

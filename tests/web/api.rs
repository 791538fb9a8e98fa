//! The document of the API, and real answers checked against it.

use serde_json::{Value, json};
use zeitnot_external::{Config, Program};
use zeitnot_rules::GameKind;

use crate::support::{
    arena::TestArena,
    command::ZEITNOT,
    schema::Schemas,
    web::{Browser, with_page},
};

async fn schemas(browser: &Browser) -> Schemas {
    let (status, document) = browser.json("/api").await;
    assert_eq!((status, &document["info"]["title"]), (200, &json!("Zeitnot arena")));
    Schemas(document)
}

#[test]
async fn answers_are_as_documented() {
    let (arena, browser) = with_page("").await;
    let schemas = schemas(&browser).await;
    let mut spectator = browser.live().await;
    let mut board = arena.game().await;
    board.play("e2-e4 e7-e5").await;
    board.white.expect("YOUR_MOVE").await;
    let id = &board.game;
    spectator.send(r#"{"watch":"games"}"#).await;
    spectator.send(&json!({"watch": {"game": id}}).to_string()).await;
    spectator.send(r#"{"watch":{"tournament":"class"}}"#).await;
    spectator.send(r#"{"ping":1}"#).await;
    spectator.send("nonsense").await;
    let message = schemas.named("LiveMessage");
    let mut kinds = Vec::new();
    let mut hear = async |spectator: &mut crate::support::web::Spectator, last: &str| {
        loop {
            let heard = spectator.next().await.unwrap();
            assert_eq!(schemas.fault(message, &heard), None, "{heard}");
            kinds.push(heard["type"].as_str().unwrap().to_owned());
            if kinds.last().unwrap() == last {
                return;
            }
        }
    };
    hear(&mut spectator, "error").await;
    for (path, shown) in [
        ("/api/status", "/api/status".to_owned()),
        ("/api/games", "/api/games".to_owned()),
        ("/api/games/{id}", format!("/api/games/{id}")),
        ("/api/games/{id}", "/api/games/nothing".to_owned()),
        ("/api/tournaments", "/api/tournaments".to_owned()),
        ("/api/tournaments/{name}", "/api/tournaments/class".to_owned()),
        ("/api/tournaments/{name}", "/api/tournaments/nothing".to_owned()),
    ] {
        let (status, answer) = browser.json(&shown).await;
        let schema = schemas.answer(path, status);
        assert!(schema.is_object(), "{path} does not document {status}");
        assert_eq!(schemas.fault(schema, &answer), None, "{path}: {answer}");
    }
    board.black.send(&format!("RESIGN {id}")).await;
    hear(&mut spectator, "end").await;
    hear(&mut spectator, "tournament").await;
    let path = "/api/tournaments/{name}/{file}";
    for (file, expected) in [("results.json", 200), ("results.txt", 404)] {
        let (status, answer) = browser.json(&format!("/api/tournaments/class/{file}")).await;
        assert_eq!(
            (status, schemas.fault(schemas.answer(path, status), &answer)),
            (expected, None),
            "{answer}"
        );
    }
    for kind in ["games", "game", "tournament", "pong", "error", "end"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind}");
    }
    arena.stop().await;
}

#[test]
async fn players_of_the_arena_are_listed_with_the_games_that_they_play() {
    let mut program = Config::new(ZEITNOT);
    program.args = vec!["uci".into()];
    program.games = Some(vec![GameKind::Atomic, GameKind::Horde]);
    let factory = Program::open("program", &program).unwrap().program.factory().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    let text = format!("tcp = '127.0.0.1:0'\ngames = {games:?}\n[web]\nlisten = '127.0.0.1:0'\n");
    let engines = [("program".to_owned(), factory)].into();
    let arena = TestArena::bind(folder, toml::from_str(&text).unwrap(), engines).await;
    let browser = Browser::new(arena.web.unwrap());
    let (status, answer) = browser.json("/api/engines").await;
    let schemas = schemas(&browser).await;
    assert_eq!(schemas.fault(schemas.answer("/api/engines", status), &answer), None, "{answer}");
    let engines = answer["engines"].as_array().unwrap();
    let all: Vec<_> = GameKind::ALL.iter().map(|kind| kind.name()).chain(["chess960"]).collect();
    assert_eq!((&engines[0]["name"], &engines[0]["games"]), (&json!("random"), &json!(all)));
    let last = json!({"name": "program", "rating": null, "built_in": false, "games": ["atomic", "horde"]});
    assert_eq!(engines.last(), Some(&last));
    arena.stop().await;
}

#[test]
async fn every_endpoint_is_documented() {
    let (arena, browser) = with_page("").await;
    let Schemas(document) = schemas(&browser).await;
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/web.md")).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, documented) in methods.as_object().unwrap() {
            let endpoint = format!("`{} {path}`", method.to_uppercase());
            assert!(page.contains(&endpoint), "docs/web.md does not mention {endpoint}");
            assert!(documented["summary"].is_string(), "{endpoint}");
        }
    }
    // What the document does not know does not exist.
    for path in ["/api/", "/api/game", "/api/games/x/y", "/api/live/x", "/api/tournaments/x/y"] {
        assert_eq!(browser.json(path).await.0, 404, "{path}");
    }
    arena.stop().await;
}

/// An endpoint says that it needs the token if, and only if, it is refused without one.
#[test]
async fn endpoints_declare_the_token_that_they_need() {
    let (arena, browser) = with_page("").await;
    let Schemas(document) = schemas(&browser).await;
    let scheme = &document["components"]["securitySchemes"]["organiser"];
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
    let mut secured = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let asked = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        let asked = asked.collect::<Vec<_>>().join("/");
        for (method, documented) in methods.as_object().unwrap() {
            let json = [("content-type", "application/json")];
            let answer = browser.ask(&method.to_uppercase(), &asked, &json, b"{}".to_vec()).await;
            let is_needed = documented["security"] == json!([{"organiser": []}]);
            assert_eq!(answer.status() == 401, is_needed, "{method} {path}: {}", answer.status());
            secured += usize::from(is_needed);
        }
    }
    assert_eq!(secured, 19);
    arena.stop().await;
}

/// Everything that is asked for or answered has a type.
#[test]
async fn no_schema_is_free() {
    let (arena, browser) = with_page("").await;
    let Schemas(document) = schemas(&browser).await;
    let mut found = Vec::new();
    free_schemas("", &document["components"]["schemas"], &mut found);
    for methods in document["paths"].as_object().unwrap().values() {
        for documented in methods.as_object().unwrap().values() {
            let contents = documented["responses"].as_object().unwrap().values();
            for content in contents.chain([&documented["requestBody"]]) {
                for (kind, body) in content["content"].as_object().into_iter().flatten() {
                    free_schemas(
                        &format!("{} {kind}", documented["operationId"]),
                        &body["schema"],
                        &mut found,
                    );
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
    let schemas = Schemas(document);
    let named = |name: &str, field: &str| schemas.named(name)["properties"][field].clone();
    assert_eq!(named("Clocks", "running")["enum"], json!(["white", "black", null]));
    assert_eq!(named("Correction", "result")["enum"], json!(["1-0", "0-1", "1/2-1/2", "*"]));
    for (name, required) in [
        ("Settings_AskedAccess", json!(["name", "time_control"])),
        ("Settings_AccessKind", json!(["name", "time_control"])),
        ("SettingsChange", json!(null)),
    ] {
        let settings = schemas.named(name);
        assert_eq!(
            (&settings["required"], &settings["additionalProperties"]),
            (&required, &json!(false)),
            "{name}"
        );
        let fields = settings["properties"].as_object().unwrap();
        assert!(fields.contains_key("pause") && fields.contains_key("access"), "{name}: {settings}");
        assert!(!fields.contains_key("keys"), "a file of the arena's machine; {name}: {settings}");
    }
    arena.stop().await;
}

/// Notes the schemas that anything, or any object, fits.
fn free_schemas(path: &str, schema: &Value, found: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else { return };
    let is_object = schema.get("type") == Some(&json!("object"));
    let has_form = ["properties", "additionalProperties"].iter().any(|key| schema.contains_key(*key));
    if schema.keys().all(|key| key == "description") || is_object && !has_form {
        found.push(path.to_owned());
    }
    for (key, part) in schema {
        let path = format!("{path}.{key}");
        match (key.as_str(), part) {
            ("example" | "examples" | "additionalProperties", _) => {}
            ("properties", Value::Object(parts)) => {
                parts.iter().for_each(|(name, part)| free_schemas(&format!("{path}.{name}"), part, found));
            }
            (_, Value::Object(_)) => free_schemas(&path, part, found),
            (_, Value::Array(parts)) => parts.iter().for_each(|part| free_schemas(&path, part, found)),
            _ => {}
        }
    }
}

/// The files have the result that players were told.
#[test]
async fn results_are_downloaded() {
    let (arena, browser) = with_page("").await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    board.black.expect("GAME_OVER").await;
    let text = async |file: &str| {
        let answer = browser.get(&format!("/api/tournaments/class/{file}")).await;
        (answer.headers()["content-type"].to_str().unwrap().to_owned(), answer.text().await.unwrap())
    };
    let (kind, csv) = text("results.csv").await;
    assert_eq!(kind, "text/csv; charset=utf-8");
    assert_eq!(
        csv.lines().filter(|line| line.ends_with(",1,0,0,0,0,") || line.ends_with(",0,0,1,0,0,")).count(),
        2,
        "{csv}"
    );
    let (kind, pgn) = text("results.pgn").await;
    assert_eq!(kind, "application/x-chess-pgn; charset=utf-8");
    assert!(pgn.contains("2. g4") && pgn.contains("Qh4# ") && pgn.contains("[Result \"0-1\"]"), "{pgn}");
    let (kind, trf) = text("results.trf").await;
    assert!(kind.starts_with("text/plain") && trf.starts_with("012 class\n"), "{kind} {trf}");
    let results = browser.json("/api/tournaments/class/results.json").await.1;
    assert_eq!(results["pairings"][0]["result"], "0-1", "{results}");
    for file in ["results.pgn", "results.json"] {
        let path = format!("/api/tournaments/class/{file}");
        let answer = browser.ask("GET", &path, &[("accept-encoding", "gzip")], Vec::new()).await;
        assert_eq!(answer.headers()["content-encoding"], "gzip");
        assert!(answer.bytes().await.is_ok_and(|bytes| bytes.len() > 100), "{file} breaks off");
    }
    assert_eq!(browser.json("/api/tournaments/nothing/results.csv").await.0, 404);
    assert_eq!(browser.json("/api/status").await.1["results"], true);
    arena.stop().await;
}

//! The document of the API, and real answers checked against it.

use serde_json::json;

use crate::support::{
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
        csv.lines().filter(|line| line.ends_with(",1,0,0,0,0") || line.ends_with(",0,0,1,0,0")).count(),
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
    assert_eq!(browser.json("/api/tournaments/nothing/results.csv").await.0, 404);
    assert_eq!(browser.json("/api/status").await.1["results"], true);
    arena.stop().await;
}

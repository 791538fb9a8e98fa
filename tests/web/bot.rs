//! The page of a bot.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use zeitnot_host::live::{
    BotGame,
    view::{BotError, BotServer, BotServerState, BotView},
};
use zeitnot_rules::{ByColor, GameKind, MoveText};
use zeitnot_seat::{Orders, PAGE_TIMEOUT};
use zeitnot_testing::{soon, until};
use zeitnot_web::{
    bot_page::BotPage,
    page::{BotControl, Config},
};

use crate::support::{
    schema::Schemas,
    web::{Browser, TOKEN, with_page},
};

fn person(name: &str) -> zeitnot_host::live::view::Person {
    zeitnot_host::live::view::Person { name: name.into(), rating: None, bot: None }
}

fn game(moves: &str) -> BotGame {
    BotGame {
        id: "lichess-abcdefgh".into(),
        site: "https://lichess.org/abcdefgh".into(),
        kind: GameKind::Chess,
        start: None,
        players: ByColor(["zeitnot", "bob"].map(person)),
        time_control: None,
        moves: moves.split_whitespace().filter_map(MoveText::new).collect(),
        left: Some(ByColor([Duration::from_secs(9); 2])),
        thought: None,
        end: None,
    }
}

/// A bot in trouble.
fn bot() -> BotView {
    let error = BotError { at: "2026-01-01T00:00:00Z".into(), server: None, text: "no route to host".into() };
    let server = BotServer {
        name: "lichess".into(),
        state: BotServerState::Refused,
        error: Some("the token is not valid".into()),
        orders: Vec::new(),
    };
    BotView {
        games: 1,
        servers: vec![server],
        blocked: Some(vec!["mallory".into()]),
        errors: Some(vec![error]),
        ..BotView::default()
    }
}

#[test]
async fn a_bot_shows_its_games_and_stops_by_the_token_alone() {
    let config = format!("listen = '127.0.0.1:0'\ntoken = '{TOKEN}'");
    let config: Config = toml::from_str(&config).unwrap();
    let soon_stop = CancellationToken::new();
    let stop = CancellationToken::new();
    let control = BotControl { soon: soon_stop.clone(), orders: Orders::channel(PAGE_TIMEOUT).0 };
    let page = BotPage::bind(config, control).unwrap();
    let browser = Browser::new(page.address());
    let (hold, held) = oneshot::channel::<()>();
    let collect = move |mut feed: zeitnot_host::live::BotFeed| async move {
        feed.update(game("e2e4"));
        assert!(feed.show(bot()));
        let _ = held.await;
    };
    let running = tokio::spawn(page.run(collect, || (), stop.clone()));
    until("the bot is shown", async || browser.json("/api/bot").await.0 == 200).await;
    let (_, bot) = browser.json("/api/bot").await;
    assert_eq!((&bot["games"], &bot["stopping"]), (&json!(1), &json!(false)));
    let schemas = Schemas(browser.json("/api").await.1);
    assert_eq!(schemas.fault(schemas.answer("/api/bot", 200), &bot), None);
    assert_eq!(browser.json("/api/status").await.1["role"], "bot");
    let (_, games) = browser.json("/api/games").await;
    assert_eq!((&games["games"][0]["source"], &games["games"][0]["ply"]), (&json!("bot"), &json!(1)));
    let mut spectator = browser.live().await;
    spectator.send(r#"{"watch":"bot"}"#).await;
    assert_eq!(spectator.expect("bot").await["bot"], bot);
    // Its troubles are its owner's.
    let (_, own) = browser.order("GET", "/api/bot", Value::Null).await;
    assert_eq!(own, serde_json::to_value(self::bot()).unwrap());
    assert_eq!(schemas.fault(schemas.answer("/api/bot", 200), &own), None);
    let guess = [("authorization", "Bearer guessed")];
    let guessed = browser.ask("GET", "/api/bot", &guess, Vec::new()).await.text().await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&guessed).unwrap(), bot);
    assert_eq!((&bot["errors"], &bot["blocked"]), (&Value::Null, &Value::Null));
    assert_eq!((&bot["servers"][0]["error"], &bot["servers"][0]["state"]), (&Value::Null, &json!("refused")));
    // Visitors cannot make it think.
    let table = json!({ "kind": "chess", "opponent": { "bot": { "level": 8 } } });
    assert_eq!(browser.post("/api/tables", &table).await.0, 403);
    assert_eq!(browser.post("/api/bot/stop", &Value::Null).await.0, 401);
    assert!(!soon_stop.is_cancelled());
    let bearer = format!("Bearer {TOKEN}");
    let answer = browser.ask("POST", "/api/bot/stop", &[("authorization", &bearer)], Vec::new()).await;
    assert_eq!((answer.status().as_u16(), soon_stop.is_cancelled()), (202, true));
    stop.cancel();
    soon("the end of the page", running).await.unwrap();
    drop(hold);
}

#[test]
async fn an_arena_shows_no_bot() {
    let (arena, browser) = with_page("").await;
    let (status, told) = browser.json("/api/bot").await;
    assert_eq!(status, 404);
    assert!(told["error"].as_str().unwrap().contains("shows no bot"), "{told}");
    arena.stop().await;
}

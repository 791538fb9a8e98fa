//! Orders from a bot's page to its client, on the arena's own Lichess server or on a scripted one.

use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use zeitnot_testing::until;

use crate::support::{
    arena::TestArena,
    command::{err, out, zeitnot},
    imcs::Imcs,
    lichess_arena::{Lichess, Stream, play},
    lichess_server::Server,
    program::Program,
    schema::Schemas,
    web::{Browser, TOKEN},
};

/// Tables of a bot that plays at random, which is quick, with a page.
fn tables() -> String {
    format!(
        "[engine]\nkind = 'random'\n[cache]\nmemory_mib = 0\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n"
    )
}

/// `zeitnot play` with its page.
struct Bot {
    program: Program,
    browser: Browser,
}

/// Alice, a bot on the arena's Lichess server.
struct Page {
    lichess: Lichess,
    bot: Bot,
}

impl Bot {
    async fn new(program: Program) -> Bot {
        let url = || {
            let told = program.told();
            told.iter().find_map(|line| Some(line.split_once("the bot's page: http://")?.1.to_owned()))
        };
        until("the page", async || url().is_some()).await;
        let browser = Browser::new(url().unwrap().trim().parse().unwrap());
        until("the bot is shown", async || browser.json("/api/bot").await.0 == 200).await;
        Bot { program, browser }
    }

    /// The answer to an order with the token: its status, and its one line.
    async fn order(&self, order: &str, body: Value) -> (u16, String) {
        self.order_text(order, body.to_string()).await
    }

    async fn order_text(&self, order: &str, body: String) -> (u16, String) {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let path = format!("/api/bot/{order}");
        let answer = self.browser.ask("POST", &path, &headers, body.into_bytes()).await;
        let status = answer.status().as_u16();
        let told: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        let line = told["message"].as_str().or(told["error"].as_str()).unwrap_or_default().to_owned();
        assert!(!line.is_empty() && !line.contains('\n'), "{order}: {told}");
        (status, line)
    }

    async fn state(&self) -> Value {
        self.browser.order("GET", "/api/bot", Value::Null).await.1
    }

    /// Waits until the last challenge of the bot is in this state, and returns it.
    async fn challenge_is(&self, state: &str) -> Value {
        let last = async || {
            let challenges = self.state().await["own_challenges"].clone();
            challenges.as_array().and_then(|all| all.last().cloned()).unwrap_or_default()
        };
        until(state, async || last().await["state"] == state).await;
        last().await
    }
}

impl Page {
    async fn start() -> Page {
        let lichess = Lichess::start("").await;
        let folder = lichess.arena.folder.path();
        let bot = Bot::new(Program::with(&tables(), folder, &lichess.url(), "lip_alice", "")).await;
        lichess.nobody().sees_online("alice").await;
        Page { lichess, bot }
    }

    async fn stop(self) {
        self.bot.program.kill().await;
        self.lichess.stop().await;
    }
}

fn blitz(opponent: &str) -> Value {
    json!({ "opponent": opponent, "time_control": "180+2", "color": "white" })
}

async fn challenge(events: &mut Stream) -> String {
    events.expect("challenge").await["challenge"]["id"].as_str().unwrap().to_owned()
}

#[test]
async fn a_challenge_from_the_page_is_played() {
    let page = Page::start().await;
    let bob = page.lichess.bot("bob");
    let mut events = bob.events().await;
    let (status, told) = page.bot.order("challenge", blitz("Bob")).await;
    assert_eq!(
        (status, told.as_str()),
        (202, "challenging bob to a game, standard 3+2, casual; the answer follows")
    );
    let id = challenge(&mut events).await;
    assert_eq!(page.bot.challenge_is("open").await["to"], "bob");
    let (status, told) = page.bot.order("challenge", blitz("carol")).await;
    assert_eq!((status, told.as_str()), (409, "the challenge to bob is still open: wait for the answer"));
    bob.ok(&format!("/api/challenge/{id}/accept")).await;
    let mut game = bob.watch(&id).await;
    assert_eq!(game.expect("gameFull").await["white"]["id"], "alice");
    until("alice has moved", async || {
        let games = page.bot.browser.json("/api/games").await.1;
        games["games"].as_array().unwrap().iter().any(|game| game["ply"].as_u64() >= Some(1))
    })
    .await;
    let accepted = page.bot.challenge_is("accepted").await;
    assert_eq!((&accepted["id"], &accepted["terms"]), (&json!(id), &json!("standard 3+2, casual")));
    // Who comes late sees all of it.
    let mut late = page.bot.browser.live().await;
    late.send(r#"{"watch":"bot"}"#).await;
    let shown = late.expect("bot").await["bot"].clone();
    assert_eq!(shown["own_challenges"][0], accepted);
    assert_eq!(shown["servers"][0]["orders"], json!(["challenge", "join", "block"]));
    let schemas = Schemas(page.bot.browser.json("/api").await.1);
    assert_eq!(schemas.fault(schemas.answer("/api/bot", 200), &shown), None);
    page.stop().await;
}

/// The order comes from the command line.
#[test]
async fn a_series_of_games_is_played_with_alternating_colors() {
    let page = Page::start().await;
    let bob = page.lichess.bot("bob");
    let mut events = bob.events().await;
    let url = format!("http://{}", page.bot.browser.address);
    let mut command = zeitnot(&[
        "lichess",
        "challenge",
        "Bob",
        "--games",
        "2",
        "--time",
        "60+1",
        "--color",
        "black",
        "--page",
        &url,
    ]);
    command.current_dir(page.lichess.arena.folder.path()).env("ZEITNOT_ORGANISER_TOKEN", TOKEN);
    let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let told = "challenging bob to 2 games, one after another, standard 1+1, casual; the answer follows\n";
    assert_eq!((out(&output), err(&output)), (told, ""));
    for ours in ["black", "white"] {
        let id = challenge(&mut events).await;
        bob.ok(&format!("/api/challenge/{id}/accept")).await;
        let mut game = bob.watch(&id).await;
        assert_eq!(game.expect("gameFull").await[ours]["id"], "alice");
        bob.act(&id, "resign").await;
    }
    page.stop().await;
}

#[test]
async fn whoever_declines_or_cannot_be_challenged_is_told_with_the_reason() {
    let page = Page::start().await;
    let bob = page.lichess.bot("bob");
    let mut events = bob.events().await;
    assert_eq!(page.bot.order("challenge", blitz("bob")).await.0, 202);
    let id = challenge(&mut events).await;
    bob.post(&format!("/api/challenge/{id}/decline"), "reason=tooFast").await;
    until("the reason", async || {
        let last = page.bot.challenge_is("ended").await;
        last["reason"].as_str().unwrap().contains("too fast")
    })
    .await;
    assert_eq!(page.bot.state().await["own_challenges"].as_array().unwrap().len(), 1);
    // The next one is possible at once, also to somebody whom the server does not know.
    assert_eq!(page.bot.order("challenge", blitz("nobody")).await.0, 202);
    until("the unknown player", async || {
        page.bot.challenge_is("ended").await["reason"].as_str().unwrap().contains("No such user: nobody")
    })
    .await;
    page.stop().await;
}

#[test]
async fn a_blocked_player_is_neither_challenged_nor_accepted() {
    let page = Page::start().await;
    let bob = page.lichess.bot("bob");
    let mut events = bob.events().await;
    assert_eq!(page.bot.order("challenge", blitz("bob")).await.0, 202);
    challenge(&mut events).await;
    let (status, told) = page.bot.order("block", json!({ "player": "Bob" })).await;
    assert!(status == 202 && told.contains("until the program ends"), "{told}");
    // The open challenge is withdrawn.
    events.expect("challengeCanceled").await;
    assert_eq!(page.bot.challenge_is("ended").await["reason"], "withdrawn: the player is blocked");
    let (status, told) = page.bot.order("challenge", blitz("bob")).await;
    assert!(status == 409 && told.contains("blocked"), "{told}");
    bob.challenge("alice", "clock.limit=180&clock.increment=2").await;
    events.expect("challengeDeclined").await;
    until("it is shown", async || page.bot.state().await["blocked"] == json!(["Bob"])).await;
    assert_eq!(page.bot.order("unblock", json!({ "player": "bob" })).await.0, 202);
    until("it is shown", async || page.bot.state().await["blocked"] == json!([])).await;
    bob.challenge("alice", "clock.limit=180&clock.increment=2").await;
    events.expect("gameStart").await;
    page.stop().await;
}

#[test]
async fn a_tournament_is_joined_from_the_page_and_a_refusal_is_an_error() {
    let (mut server, folder) = (Server::start().await, tempfile::tempdir().unwrap());
    server.answer("/api/tournament/ABCDEFGH", 200, r#"{"id":"ABCDEFGH","isStarted":true}"#);
    let bot = Bot::new(Program::with(&tables(), folder.path(), &server.url, "lip_hush", "")).await;
    server.online().await;
    let (status, told) =
        bot.order("join", json!({ "tournament": "https://lichess.org/swiss/abcdefgh" })).await;
    assert!(status == 409 && told.contains("Swiss"), "{told}");
    assert_eq!(bot.order("join", json!({ "tournament": "ABCDEFGH", "password": "hush" })).await.0, 202);
    server.hear_form("/api/tournament/ABCDEFGH/join", "pairMeAsap=true&password=hush").await.ok();
    let (status, told) = bot.order("join", json!({ "tournament": "ABCDEFGH" })).await;
    assert!(status == 409 && told.contains("already"), "{told}");
    assert_eq!(bot.order("join", json!({ "tournament": "abcdefgh" })).await.0, 202);
    until("the error", async || {
        let errors = bot.state().await["errors"].clone();
        let told = errors
            .as_array()
            .into_iter()
            .flatten()
            .find(|error| error["text"].as_str().unwrap().contains("tournament abcdefgh: not found"));
        told.is_some_and(|error| error["server"].as_str().unwrap().starts_with("http://127.0.0.1"))
    })
    .await;
    assert!(!bot.state().await.to_string().contains("hush"));
    bot.program.kill().await;
}

#[test]
async fn orders_without_the_token_and_hostile_ones_change_nothing() {
    let page = Page::start().await;
    let bob = page.lichess.bot("bob");
    for order in ["challenge", "join", "block", "unblock"] {
        let (status, _) = page.bot.browser.post(&format!("/api/bot/{order}"), &blitz("bob")).await;
        assert_eq!(status, 401, "{order}");
    }
    let before = page.bot.state().await;
    let long = "x".repeat(300);
    for (order, body) in [
        ("challenge", json!({})),
        ("challenge", json!({ "opponent": "bob" })),
        ("challenge", json!({ "opponent": "../../x", "time_control": "180+2" })),
        ("challenge", json!({ "opponent": long, "time_control": "180+2" })),
        ("challenge", json!({ "opponent": "bob\n", "time_control": "180+2" })),
        ("challenge", json!({ "opponent": "alice", "time_control": "180+2" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "3+2" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "soon" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "1e300" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "180+2", "variant": "fromPosition" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "180+2", "color": "red" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "180+2", "server": "elsewhere" })),
        ("challenge", json!({ "opponent": "bob", "time_control": "180+2", "games": 0 })),
        ("challenge", json!({ "opponent": "bob", "time_control": "180+2", "more": 1 })),
        ("join", json!({ "tournament": "../x" })),
        ("join", json!({ "tournament": "" })),
        ("join", json!({ "tournament": 7 })),
        ("block", json!({ "player": "" })),
        ("block", json!({ "player": "a b" })),
        ("unblock", json!({ "player": ["bob"] })),
    ] {
        let (status, told) = page.bot.order(order, body.clone()).await;
        assert!((400..=422).contains(&status), "{order} {body}: {status} {told}");
    }
    for text in ["", "{", "null", "[]", "\u{0}", &"[".repeat(60_000)] {
        assert!((400..=422).contains(&page.bot.order_text("block", text.to_owned()).await.0));
    }
    assert_eq!(page.bot.state().await, before);
    // It still plays.
    let mut events = bob.events().await;
    bob.challenge("alice", "clock.limit=180&clock.increment=2&color=white").await;
    let game = events.expect("gameStart").await["game"]["gameId"].as_str().unwrap().to_owned();
    play(&bob, &bob, &game, "e2e4").await;
    page.stop().await;
}

#[test]
async fn a_connection_that_is_lost_and_back_is_among_the_errors() {
    let Page { lichess, bot } = Page::start().await;
    let address = lichess.address;
    lichess.stop().await;
    until("the loss", async || {
        let errors = bot.state().await["errors"].clone();
        errors.as_array().into_iter().flatten().any(|error| {
            error["text"].as_str().unwrap().contains("reconnecting in") && error["server"].is_string()
        })
    })
    .await;
    let text = format!(
        "games = '{{folder}}/games'\n[lichess]\nlisten = '{address}'\n\
         account = [{{ name = 'Alice', token = 'lip_alice' }}]\n"
    );
    let again = TestArena::open(tempfile::tempdir().unwrap(), &text).await;
    until("it is back", async || {
        let errors = bot.state().await["errors"].clone();
        errors.as_array().into_iter().flatten().any(|error| error["text"] == "connected again")
    })
    .await;
    again.stop().await;
    bot.program.kill().await;
}

/// A contest server that is not there, and an IMCS.
#[test]
async fn servers_that_cannot_say_what_they_do_instead_and_imcs_blocks() {
    let imcs = Imcs::start().await;
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{}[[server]]\nprotocol = 'contest'\naddress = 'tcp://127.0.0.1:1'\ntournament = 'class'\nplayer = 'alice'\n\
         [[server]]\nprotocol = 'imcs'\naddress = 'tcp://{}'\nuser = 'alice'\npassword = 'pw'\nregister = true\n\
         [server.accept]\npoll_interval = '100ms'\n",
        tables(),
        imcs.address
    );
    let mut eve = imcs.register("eve").await;
    let mut bob = imcs.register("bob").await;
    let bot = Bot::new(Program::configured(folder.path(), "bot", &text)).await;
    let servers = bot.state().await["servers"].clone();
    assert_eq!((&servers[0]["orders"], &servers[1]["orders"]), (&json!([]), &json!(["block"])), "{servers}");
    let (status, told) = bot.order("challenge", blitz("bob")).await;
    assert!(status == 409 && told.starts_with("a contest server pairs its players itself"), "{told}");
    let at_imcs = json!({ "opponent": "bob", "time_control": "180+2", "server": servers[1]["name"] });
    let (status, told) = bot.order("challenge", at_imcs).await;
    assert!(status == 409 && told.starts_with("IMCS has no challenges"), "{told}");
    let (status, told) = bot.order("join", json!({ "tournament": "other" })).await;
    assert!(status == 409 && told.contains("add a [[server]] table"), "{told}");
    let (status, told) = bot.order("block", json!({ "player": "eve" })).await;
    assert!(status == 202 && told.starts_with("offers of eve are not accepted"), "{told}");
    // Her offer is the older one.
    eve.ask("offer W 60", "103 1 game waiting for offer acceptance\r\n").await;
    bob.ask("offer W 60", "103 2 game waiting for offer acceptance\r\n").await;
    bob.hears("105 W 1:00 1:00 game starts\r\n").await;
    bot.program.kill().await;
    imcs.stop().await;
}

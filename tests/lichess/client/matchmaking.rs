//! The Lichess client on its own initiative: challenges to bots, tournaments and teams, and whether it is seen.

use std::time::Duration;

use tokio::time::sleep;
use zeitnot_engine::Kind;

use crate::support::{
    lichess_arena,
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, over},
    lichess_server::{Post, QUIET, Server},
};

const EAGER: &str =
    "matchmaking = { challenge_timeout = '50ms', cancel_after = '20s', opponent_rating_difference = 200 }";
const CAP: &str = r#"{"error":"Enough","ratelimit":{"key":"bot.vsBot.day","seconds":3600}}"#;

/// A server with bots that may be challenged.
async fn server(bots: &[&str]) -> Server {
    let server = Server::start().await;
    let rated = |name: &str, rating: i32| {
        format!(
            r#"{{"id":"{name}","username":"{name}","title":"BOT","perfs":{{"blitz":{{"rating":{rating}}}}}}}"#
        )
    };
    server.answer("/api/account", 200, &rated("zeitnot", 1500));
    let mut list: String = bots.iter().map(|name| rated(name, 1600) + "\n").collect();
    list += &rated("strong", 2800);
    server.answer("/api/bot/online", 200, &list);
    server
}

/// The challenge as those that are its parties are told of it, by us.
fn ours(opponent: &str) -> String {
    challenge(ID, CLOCK)
        .replace("zeitnot", opponent)
        .replace(r#""challenger":{"id":"them""#, r#""challenger":{"id":"zeitnot""#)
}

fn created(opponent: &str) -> String {
    let event = ours(opponent);
    let inner = event.split_once(r#""challenge":"#).unwrap().1;
    inner[..inner.len() - 1].replace('\n', " ")
}

/// The next request, which challenges one of these.
async fn challenges(server: &mut Server, bots: &[&str]) -> (String, Post) {
    let post = server.post().await;
    let who = post.path.strip_prefix("/api/challenge/").unwrap_or_default().to_owned();
    assert!(bots.contains(&who.as_str()), "{post:?}");
    (who, post)
}

#[tokio::test(start_paused = true)]
async fn an_idle_bot_challenges_one_of_its_strength_and_plays() {
    let mut server = server(&["bob"]).await;
    let client = Client::start(&server, &format!("games = 1\n{EAGER}"));
    let events = server.events().await;
    let (_, post) = challenges(&mut server, &["bob"]).await;
    assert_eq!(
        post.body,
        "clock.increment=2&clock.limit=180&color=random&keepAliveStream=true&rated=true&variant=standard"
    );
    post.answer(200, &created("bob"));
    events.line(&ours("bob"));
    server.hears_nothing().await;
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    game.line(&full(false, ""));
    server.hears_nothing().await;
    game.line(&over(""));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_challenge_of_ours_is_taken_back_before_another_takes_the_place() {
    let mut server = server(&["bob"]).await;
    let client = Client::start(&server, &format!("concurrency = 1\n{EAGER}"));
    let events = server.events().await;
    challenges(&mut server, &["bob"]).await.1.answer(200, &created("bob"));
    sleep(QUIET).await;
    events.line(&challenge("abcdefgh", CLOCK));
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/challenge/{ID}/cancel"));
    post.ok();
    let post = server.post().await;
    assert_eq!(post.path, "/api/challenge/abcdefgh/accept");
    post.ok();
    server.hears_nothing().await;
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn who_declines_is_left_alone_also_after_a_restart() {
    let mut server = server(&["bob", "carol"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("declined.json");
    let settings = EAGER.replace(" }", &format!(", history_file = '{}' }}", file.display()));
    let client = Client::start(&server, &settings);
    let events = server.events().await;
    let (first, post) = challenges(&mut server, &["bob", "carol"]).await;
    post.answer(200, &created(&first));
    sleep(QUIET).await;
    let declined = ours(&first).replace(r#"{"type":"challenge","#, r#"{"type":"challengeDeclined","#);
    events.line(&declined.replace(r#""rated":false"#, r#""rated":true,"declineReasonKey":"later""#));
    let other = if first == "bob" { "carol" } else { "bob" };
    let (_, post) = challenges(&mut server, &[other]).await;
    post.answer(400, r#"{"error":"No"}"#);
    client.shutdown.soon.cancel();
    client.ends().await;
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains(&first) && !kept.contains(other), "{kept}");

    let again = Client::start(&server, &settings);
    for _ in 0..3 {
        challenges(&mut server, &[other]).await.1.answer(400, r#"{"error":"No"}"#);
    }
    again.shutdown.now.cancel();
    again.ends().await;
}

#[tokio::test(start_paused = true)]
async fn enough_games_for_today_are_enough() {
    let mut server = server(&["bob", "carol"]).await;
    let client = Client::start(&server, EAGER);
    let events = server.events().await;
    let (first, post) = challenges(&mut server, &["bob", "carol"]).await;
    post.answer(400, CAP);
    // The opponent has played enough: another one may not have.
    let other = if first == "bob" { "carol" } else { "bob" };
    challenges(&mut server, &[other]).await.1.answer(429, CAP);
    server.hears_nothing().await;
    let bot = challenge("aaaaaaaa", CLOCK).replace(r#""name":"Them""#, r#""name":"Them","title":"BOT""#);
    events.line(&bot);
    let post = server.post().await;
    assert_eq!((post.path.as_str(), post.body.as_str()), ("/api/challenge/aaaaaaaa/decline", "reason=later"));
    post.ok();
    events.line(&challenge("bbbbbbbb", CLOCK));
    assert_eq!(server.post().await.path, "/api/challenge/bbbbbbbb/accept");
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn teams_and_tournaments_are_joined_and_left() {
    let mut server = Server::start().await;
    server.answer("/api/tournament/ABCDEFGH", 200, r#"{"id":"ABCDEFGH","isStarted":true}"#);
    let settings = "team = [{ id = 'the-bots', message = 'hello' }]\n\
        tournament = [{ id = 'ABCDEFGH', team = 'the-bots', password = 'hush hush' }]";
    let client = Client::start(&server, settings);
    let events = server.events().await;
    let joins = "/api/tournament/ABCDEFGH/join";
    let form = "pairMeAsap=true&password=hush+hush&team=the-bots";
    for (path, body) in [("/team/the-bots/join", "message=hello"), (joins, form)] {
        let post = server.post().await;
        assert_eq!((post.path.as_str(), post.body.as_str()), (path, body));
        post.ok();
    }
    let paired = game_event("gameStart").replace(r#""color""#, r#""tournamentId":"ABCDEFGH","color""#);
    events.line(&paired);
    let game = server.game().await;
    game.line(&full(false, ""));
    server.hears_nothing().await;
    // The next game at once.
    game.line(&over(""));
    let post = server.post().await;
    assert_eq!((post.path.as_str(), post.body.as_str()), (joins, form));
    post.ok();
    sleep(QUIET).await;
    client.shutdown.soon.cancel();
    let post = server.post().await;
    assert_eq!(post.path, "/api/tournament/ABCDEFGH/withdraw");
    post.ok();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_tournament_that_does_not_want_us_is_not_asked_again() {
    let mut server = Server::start().await;
    server.answer("/api/tournament/ABCDEFGH", 200, r#"{"isStarted":true}"#);
    let client = Client::start(&server, "tournament = [{ id = 'ABCDEFGH' }]");
    let post = server.post().await;
    assert_eq!(post.path, "/api/tournament/ABCDEFGH/join");
    post.answer(403, r#"{"error":"Missing scope"}"#);
    server.hears_nothing().await;
    client.shutdown.soon.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_not_seen_opens_the_stream_again() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "[timeouts]\nonline_check = '300ms'");
    let events = server.events().await;
    sleep(QUIET).await;
    assert!(server.events.try_recv().is_err(), "nothing was wrong");
    server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot"}]"#);
    let again = server.events().await;
    drop(events);
    server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot","online":true}]"#);
    again.line(&challenge("abcdefgh", CLOCK));
    assert_eq!(server.post().await.path, "/api/challenge/abcdefgh/accept");
    client.shutdown.now.cancel();
    client.ends().await;
}

/// On our own arena: a challenge that is kept alive, taken back for another game, and one that is accepted.
#[tokio::test]
async fn matchmaking_on_an_arena() {
    let arena = lichess_arena::Lichess::start("challenge_life = '300ms'\nevent_keep_alive = '100ms'").await;
    let bob = arena.bot("bob");
    let mut events = bob.events().await;
    let url = format!("http://{}", arena.address);
    let settings = "concurrency = 1\nmatchmaking = { challenge_timeout = '300ms' }";
    let client = Client::of(&url, "lip_alice", Kind::Random, settings);
    let first = events.expect("challenge").await;
    assert_eq!(first["challenge"]["challenger"]["id"], "alice");
    // It outlives the usual span, as somebody waits for its answer.
    sleep(Duration::from_secs(1)).await;
    let carol = arena.bot("carol");
    let mut carols = carol.events().await;
    let (status, sent) = carol.post("/api/challenge/alice", "clock.limit=60&clock.increment=0").await;
    assert_eq!(status, 200, "{sent}");
    let canceled = events.expect("challengeCanceled").await;
    assert_eq!(canceled["challenge"]["id"], first["challenge"]["id"]);
    let game = carols.expect("gameStart").await["game"]["gameId"].as_str().unwrap().to_owned();
    carol.ok(&format!("/api/bot/game/{game}/resign")).await;
    drop(carols);
    let second = events.expect("challenge").await["challenge"]["id"].as_str().unwrap().to_owned();
    bob.ok(&format!("/api/challenge/{second}/accept")).await;
    events.expect("gameStart").await;
    client.shutdown.now.cancel();
    client.ends().await;
    arena.stop().await;
}

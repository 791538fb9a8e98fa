//! Lichess client on its own initiative: challenges to bots, tournaments, teams, and being shown online.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use zeitnot_engine::Kind;

use crate::support::{
    lichess_arena,
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, online, over, start, start_with},
    lichess_server::{Post, QUIET, Server},
};

const EAGER: &str =
    "matchmaking = { challenge_timeout = '50ms', cancel_after = '20s', opponent_rating_difference = 200 }";
const CAP: &str = r#"{"error":"Enough","ratelimit":{"key":"bot.vsBot.day","seconds":3600}}"#;

/// Starts a server with bots that may be challenged, and a client that has opened its event stream.
async fn among(bots: &[&str], settings: &str) -> (Server, Client) {
    let mut server = Server::start().await;
    let rated = |name: &str, rating: i32| {
        format!(
            r#"{{"id":"{name}","username":"{name}","title":"BOT","perfs":{{"blitz":{{"rating":{rating}}}}}}}"#
        )
    };
    server.answer("/api/account", 200, &rated("zeitnot", 1500));
    let list: String = bots.iter().map(|name| rated(name, 1600) + "\n").collect();
    server.answer("/api/bot/online", 200, &(list + &rated("strong", 2800)));
    let client = start(&server, settings);
    server.online().await;
    (server, client)
}

/// Event of our challenge to an opponent.
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

impl Server {
    /// Expects a challenge of one of these.
    async fn challenges(&mut self, bots: &[&str]) -> (String, Post) {
        let post = self.post().await;
        let who = post.path.strip_prefix("/api/challenge/").unwrap_or_default().to_owned();
        assert!(bots.contains(&who.as_str()), "{post:?}");
        (who, post)
    }
}

#[test(start_paused = true)]
async fn an_idle_bot_challenges_a_bot_of_its_strength_and_plays() {
    let (mut server, client) = among(&["bob"], &format!("games = 1\n{EAGER}")).await;
    let (_, post) = server.challenges(&["bob"]).await;
    assert_eq!(
        post.body,
        "clock.increment=2&clock.limit=180&color=random&keepAliveStream=true&rated=true&variant=standard"
    );
    post.answer(200, &created("bob"));
    server.tell(&ours("bob"));
    server.hears_nothing().await;
    let game = server.begin(&full(false, "")).await;
    server.hears_nothing().await;
    game.line(&over(""));
    client.ends().await;
}

/// Idle time passes by tokio's clock: monotonic, and paused in tests.
#[test(start_paused = true)]
async fn our_accepted_challenge_is_played_though_its_start_is_not_told() {
    let (mut server, client) = among(&["bob"], &format!("games = 1\n{}", EAGER.replace("50ms", "10m"))).await;
    let (_, post) = server.challenges(&["bob"]).await;
    server.lists([format!(r#"{{"gameId":"{ID}","color":"black"}}"#)]);
    post.answer(200, &format!("{}\n{{\"done\":\"accepted\"}}\n", created("bob")));
    let accepted = Instant::now();
    let game = server.game().await;
    assert!(accepted.elapsed() <= Duration::from_secs(5), "{:?}", accepted.elapsed());
    game.line(&full(false, ""));
    game.line(&over(""));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_bot_that_declined_is_not_challenged_again_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("declined.json");
    let settings = EAGER.replace(" }", &format!(", history_file = '{}' }}", file.display()));
    let (mut server, client) = among(&["bob", "carol"], &settings).await;
    let (first, post) = server.challenges(&["bob", "carol"]).await;
    post.answer(200, &created(&first));
    sleep(QUIET).await;
    let declined = ours(&first).replace(r#"{"type":"challenge","#, r#"{"type":"challengeDeclined","#);
    server.tell(&declined.replace(r#""rated":false"#, r#""rated":true,"declineReasonKey":"later""#));
    let other = if first == "bob" { "carol" } else { "bob" };
    server.challenges(&[other]).await.1.answer(400, r#"{"error":"No"}"#);
    client.ends_soon().await;
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains(&first) && !kept.contains(other), "{kept}");

    let again = start(&server, &settings);
    for _ in 0..3 {
        server.challenges(&[other]).await.1.answer(400, r#"{"error":"No"}"#);
    }
    again.ends_now().await;
}

#[test(start_paused = true)]
async fn matchmaking_ends_at_the_daily_limit_of_games_between_bots() {
    let (mut server, client) = among(&["bob", "carol"], EAGER).await;
    let (first, post) = server.challenges(&["bob", "carol"]).await;
    post.answer(400, CAP);
    // The opponent has played enough: another one may not have.
    let other = if first == "bob" { "carol" } else { "bob" };
    server.challenges(&[other]).await.1.answer(429, CAP);
    server.hears_nothing().await;
    let bot = challenge("aaaaaaaa", CLOCK).replace(r#""name":"Them""#, r#""name":"Them","title":"BOT""#);
    server.tell(&bot);
    server.hear_form("/api/challenge/aaaaaaaa/decline", "reason=later").await.ok();
    server.tell(&challenge("bbbbbbbb", CLOCK));
    server.hear_challenge("bbbbbbbb", "accept").await;
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn teams_and_tournaments_are_joined_and_left() {
    let mut server = Server::start().await;
    server.answer("/api/tournament/ABCDEFGH", 200, r#"{"id":"ABCDEFGH","isStarted":true}"#);
    let settings = "team = [{ id = 'the-bots', message = 'hello' }]\n\
        tournament = [{ id = 'ABCDEFGH', team = 'the-bots', password = 'hush hush' }]";
    let client = start(&server, settings);
    let joins = "/api/tournament/ABCDEFGH/join";
    let form = "pairMeAsap=true&password=hush+hush&team=the-bots";
    for (path, body) in [("/team/the-bots/join", "message=hello"), (joins, form)] {
        server.hear_form(path, body).await.ok();
    }
    let paired = game_event("gameStart").replace(r#""color""#, r#""tournamentId":"ABCDEFGH","color""#);
    server.online().await;
    server.tell(&paired);
    let game = server.game().await;
    game.line(&full(false, ""));
    server.hears_nothing().await;
    // The next game at once.
    game.line(&over(""));
    server.hear_form(joins, form).await.ok();
    sleep(QUIET).await;
    client.shutdown.soon.cancel();
    server.hear("/api/tournament/ABCDEFGH/withdraw").await.ok();
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_tournament_that_refuses_us_is_not_asked_again() {
    let mut server = Server::start().await;
    server.answer("/api/tournament/ABCDEFGH", 200, r#"{"isStarted":true}"#);
    let client = start(&server, "tournament = [{ id = 'ABCDEFGH' }]");
    server.hear("/api/tournament/ABCDEFGH/join").await.answer(403, r#"{"error":"Missing scope"}"#);
    server.hears_nothing().await;
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn the_event_stream_is_opened_again_when_the_account_is_shown_offline() {
    let (mut server, client) = online("[timeouts]\nonline_check = '300ms'").await;
    sleep(QUIET).await;
    assert!(server.events.try_recv().is_err(), "nothing was wrong");
    server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot"}]"#);
    server.online().await;
    server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot","online":true}]"#);
    server.tell(&challenge("abcdefgh", CLOCK));
    server.hear_challenge("abcdefgh", "accept").await;
    client.ends_now().await;
}

/// A challenge is kept alive, canceled for another game, and the next one accepted.
#[test]
async fn our_challenge_on_an_arena_is_kept_alive_canceled_and_made_again() {
    let arena = lichess_arena::Lichess::start("challenge_life = '300ms'\nevent_keep_alive = '100ms'").await;
    let bob = arena.bot("bob");
    let mut events = bob.events().await;
    let url = arena.url();
    let settings = "concurrency = 1\nmatchmaking = { challenge_timeout = '300ms' }";
    let client = start_with(&url, "lip_alice", Kind::Random, settings);
    let first = events.expect("challenge").await;
    assert_eq!(first["challenge"]["challenger"]["id"], "alice");
    // It is kept alive, so it outlives one that was made later.
    let carol = arena.bot("carol");
    let mut carols = carol.events().await;
    let later = bob.challenge("carol", "clock.limit=60&clock.increment=0").await;
    assert_eq!(events.expect("challengeCanceled").await["challenge"]["id"], later["id"]);
    carol.challenge("alice", "clock.limit=60&clock.increment=0").await;
    let canceled = events.expect("challengeCanceled").await;
    assert_eq!(canceled["challenge"]["id"], first["challenge"]["id"]);
    let game = carols.expect("gameStart").await["game"]["gameId"].as_str().unwrap().to_owned();
    carol.act(&game, "resign").await;
    drop(carols);
    let second = events.expect("challenge").await["challenge"]["id"].as_str().unwrap().to_owned();
    bob.ok(&format!("/api/challenge/{second}/accept")).await;
    events.expect("gameStart").await;
    client.ends_now().await;
    arena.stop().await;
}

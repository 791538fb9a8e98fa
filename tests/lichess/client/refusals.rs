//! Refusals that a proxy gives in the server's place, or a server in trouble: neither the program nor a game ends by a
//! single one.

use crate::support::{
    lichess_client::{ID, finish, full, in_game, replied, start, state},
    lichess_server::Server,
    log::Log,
};

const EVENTS: &str = "/api/stream/event";
const ACCOUNT: &str = "/api/account";
const STATUS: &str = "/api/users/status";
const PAGE: &str = "<html>Forbidden</html>";

fn stream() -> String {
    format!("/api/bot/game/stream/{ID}")
}

fn listed() -> String {
    format!(r#"{{"gameId":"{ID}","color":"black"}}"#)
}

#[test(start_paused = true)]
async fn one_refusal_of_each_kind_ends_neither_the_program_nor_a_game() {
    let told = Log::capture();
    let (mut server, client, game) = in_game("games = 1", &full(false, "")).await;
    server.lists([listed()]);
    for status in [401, 403, 404] {
        server.answer_once(EVENTS, status, PAGE);
        server.answer_once(&stream(), status, PAGE);
    }
    // The account cannot be asked at first.
    for status in [401, 503, 401, 502] {
        server.answer_once(ACCOUNT, status, PAGE);
    }
    drop((server.feed.take(), game));
    server.online().await;
    let game = server.game().await;
    game.line(&full(false, "e2e4"));
    for status in [401, 403, 404] {
        let (_, post) = server.hear_move_after("e2e4").await;
        post.answer(status, PAGE);
    }
    let line = server.take_move_after("e2e4").await;
    told.shows("our token is good").await;
    assert_eq!(server.unasked(EVENTS) + server.unasked(&stream()) + server.unasked(ACCOUNT), 0);
    assert_eq!(told.count("refused our move"), 0, "{}", told.text());
    game.line(&state(&line, ""));
    let line = replied(&line);
    game.line(&state(&line, ""));
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn refusals_of_an_event_stream_that_was_open_before_do_not_end_the_client() {
    let settings = "games = 1\n[timeouts]\nonline_check = '1s'";
    let (mut server, client, game) = in_game(settings, &full(false, "")).await;
    for _ in 0..3 {
        server.answer_once(EVENTS, 403, PAGE);
    }
    // So the client opens a new stream.
    server.answer_once(STATUS, 200, r#"[{"id":"zeitnot","online":false}]"#);
    server.online().await;
    assert_eq!(server.unasked(EVENTS), 0);
    game.line(&state("e2e4", ""));
    finish(server, client, game, "e2e4").await;
}

#[test(start_paused = true)]
async fn a_game_that_the_server_refuses_and_does_not_list_is_over() {
    let (mut server, client, game) = in_game("games = 1", &full(false, "")).await;
    server.answer_once(&stream(), 404, r#"{"error":"No such game"}"#);
    drop(game);
    client.ends().await;
    assert!(server.games.try_recv().is_err());
}

#[test(start_paused = true)]
async fn a_token_that_is_revoked_ends_the_client() {
    let (mut server, client, _game) = in_game("", &full(false, "")).await;
    server.answer(ACCOUNT, 401, r#"{"error":"No such token"}"#);
    server.answer_once(EVENTS, 401, "{}");
    server.feed = None;
    let told = client.result().await.unwrap_err().to_string();
    assert!(told.contains("the token is not accepted"), "{told}");
}

#[test(start_paused = true)]
async fn a_refusal_at_the_start_is_asked_about_again() {
    let mut server = Server::start().await;
    for status in [401, 403] {
        server.answer_once(ACCOUNT, status, PAGE);
    }
    let client = start(&server, "");
    server.online().await;
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn an_account_whose_events_are_refused_from_the_start_ends_the_client() {
    let server = Server::start().await;
    server.answer(EVENTS, 403, r#"{"error":"Missing scope: bot:play"}"#);
    let told = start(&server, "").result().await.unwrap_err().to_string();
    assert!(told.contains("Missing scope") && told.contains("zeitnot lichess check"), "{told}");
}

#[test(start_paused = true)]
async fn a_refusal_that_repeats_our_token_is_shown_without_it() {
    let server = Server::start().await;
    server.answer(EVENTS, 403, r#"{"error":"lip_hush may not play"}"#);
    let told = start(&server, "").result().await.unwrap_err().to_string();
    assert!(told.contains("… may not play") && !told.contains("hush"), "{told}");
}

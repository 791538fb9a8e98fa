//! Lichess client at bad moments: games that begin in a burst or without an event, moves missed while a stream was
//! closed, answers that hang.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::{Instant, sleep};

use crate::support::{
    lichess_client::{
        CLOCK, ID, challenge, finish, full, game_event, in_game, of_game, online, over, start, state,
    },
    lichess_server::{QUIET, Server},
    log::Log,
};

fn listed(id: &str) -> String {
    format!(r#"{{"gameId":"{id}","color":"white"}}"#)
}

#[test(start_paused = true)]
async fn games_that_begin_in_a_burst_are_played_once_each_and_keep_their_places() {
    let mut server = Server::start().await;
    let ids: Vec<_> = (0..8).map(|at| format!("game000{at}")).collect();
    server.lists(ids.iter().map(|id| listed(id)));
    let client = start(&server, "concurrency = 8");
    server.online().await;
    for id in ids.iter().chain(&ids) {
        server.tell(&of_game(id, &game_event("gameStart")));
    }
    let mut games = Vec::new();
    for _ in &ids {
        let game = server.game().await;
        let id = game.path.rsplit('/').next().unwrap().to_owned();
        game.line(&of_game(&id, &full(false, "")));
        games.push((id, game));
    }
    assert_eq!(games.iter().map(|(id, _)| id).collect::<BTreeSet<_>>(), ids.iter().collect());
    // The stream is opened anew: the games go on, and so no place is free.
    server.feed = None;
    server.online().await;
    server.tell(&challenge("abcdefgh", CLOCK));
    server.hears_nothing().await;
    assert!(server.games.try_recv().is_err(), "a second stream of one game");
    let (id, game) = games.pop().unwrap();
    server.lists([]);
    game.line(&of_game(&id, &over("")));
    server.hear_challenge("abcdefgh", "accept").await;
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_game_that_begins_without_an_event_stream_is_found() {
    let (mut server, client) = online("games = 1").await;
    sleep(QUIET).await;
    server.feed = None;
    server.lists([listed(ID)]);
    server.online().await;
    let game = server.game().await;
    game.line(&full(true, ""));
    finish(server, client, game, "").await;
}

#[test(start_paused = true)]
async fn moves_and_takebacks_without_a_stream_are_caught_up() {
    let (mut server, client, game) = in_game("games = 1", &full(false, "")).await;
    server.hears_nothing().await;
    let mut before = game;
    // Many moves more; then most of them taken back; then others in their place.
    for line in ["e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1", "e2e4", "d2d4 d7d5 c2c4"] {
        drop(before);
        let game = server.game().await;
        game.line(&full(false, line));
        let line = server.take_move_after(line).await;
        game.line(&state(&line, ""));
        server.hears_nothing().await;
        before = game;
    }
    before.line(&over("d2d4"));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_move_is_not_sent_again_after_the_end() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    for status in [503, 429] {
        server.hear_move().await.1.answer(status, "{}");
    }
    game.line(&over(""));
    server.hears_nothing().await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn an_answer_that_hangs_holds_up_neither_its_move_nor_another_game() {
    let (mut server, client) = online("games = 2").await;
    let mut games = Vec::new();
    let mut hanging = None;
    for id in ["aaaaaaaa", "bbbbbbbb"] {
        let game = server.begin_as(id, &full(true, "")).await;
        let (mv, post) = server.hear_move().await;
        assert!(post.path.contains(id), "{}", post.path);
        match &hanging {
            None => hanging = Some((mv, post)),
            Some(_) => {
                post.ok();
                game.line(&over(&mv));
            }
        }
        games.push(game);
    }
    let (first, unanswered) = hanging.unwrap();
    let (again, post) = server.hear_move().await;
    assert_eq!((first.as_str(), &post.path), (again.as_str(), &unanswered.path));
    post.ok();
    games[0].line(&over(&again));
    client.ends().await;
    drop(unanswered);
}

#[test(start_paused = true)]
async fn a_game_whose_start_is_not_told_begins_within_five_seconds() {
    let (mut server, client) = online("games = 1").await;
    sleep(QUIET).await;
    server.tell(&challenge(ID, CLOCK));
    let post = server.hear_challenge(ID, "accept").await;
    server.lists([listed(ID)]);
    post.ok();
    let accepted = Instant::now();
    let game = server.game().await;
    assert!(accepted.elapsed() <= Duration::from_secs(5), "{:?}", accepted.elapsed());
    game.line(&full(true, ""));
    finish(server, client, game, "").await;
}

#[test(start_paused = true)]
async fn an_outage_is_told_at_its_start_once_a_minute_and_at_its_end() {
    let told = Log::capture();
    let reconnect = "reconnect = { min_delay = '1s', max_delay = '30s', stable_after = '10s' }";
    let (mut server, client) = online(&format!("[timeouts]\n{reconnect}\n")).await;
    for _ in 0..12 {
        server.answer_once("/api/stream/event", 503, "<html>");
    }
    let began = Instant::now();
    server.feed = None;
    server.online().await;
    let seconds = began.elapsed().as_secs_f64();
    told.shows("connected again after ").await;
    let later = told.count("; trying for ");
    // A line is due after a minute, and comes with the next attempt.
    let fewest = (seconds / 90.0).floor() as usize;
    let most = (seconds / 60.0).floor() as usize;
    assert!((fewest..=most).contains(&later), "{seconds} s: {}", told.text());
    assert_eq!(told.count("reconnecting in "), later + 1, "{}", told.text());
    assert_eq!(told.count("connected again after "), 1, "{}", told.text());
    client.ends_now().await;
}

//! A scripted server that does to a Lichess client the worst at the worst moment: games that begin in a burst or
//! unseen, moves missed while a stream was away, answers that hang, moves that are moot, engines that fail.

use std::collections::BTreeSet;

use tokio::time::sleep;
use zeitnot_engine::{Fault, Kind};
use zeitnot_rules::{Game, chess::Chess};

use crate::support::{
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, over, state},
    lichess_server::{QUIET, Server},
};

fn of_game(id: &str, text: &str) -> String {
    text.replace(ID, id)
}

/// Whether a move is legal after these moves.
fn is_legal(moves: &str, mv: &str) -> bool {
    let mut board = Chess::start();
    moves.split_whitespace().for_each(|text| {
        let mv = board.read(text).unwrap();
        board.play(mv);
    });
    board.read(mv).is_ok()
}

fn playing(ids: &[String]) -> String {
    let games: Vec<_> = ids.iter().map(|id| format!(r#"{{"gameId":"{id}","color":"white"}}"#)).collect();
    format!(r#"{{"nowPlaying":[{}]}}"#, games.join(","))
}

#[tokio::test(start_paused = true)]
async fn games_that_begin_in_a_burst_are_played_once_each_and_keep_their_places() {
    let mut server = Server::start().await;
    let ids: Vec<_> = (0..8).map(|at| format!("game000{at}")).collect();
    server.answer("/api/account/playing", 200, &playing(&ids));
    let client = Client::start(&server, "concurrency = 8");
    let events = server.events().await;
    for id in ids.iter().chain(&ids) {
        events.line(&of_game(id, &game_event("gameStart")));
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
    drop(events);
    let events = server.events().await;
    events.line(&challenge("abcdefgh", CLOCK));
    server.hears_nothing().await;
    assert!(server.games.try_recv().is_err(), "a second stream of one game");
    let (id, game) = games.pop().unwrap();
    server.answer("/api/account/playing", 200, &playing(&[]));
    game.line(&of_game(&id, &over("")));
    assert_eq!(server.post().await.path, "/api/challenge/abcdefgh/accept");
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_begins_while_nobody_tells_is_found() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "games = 1");
    let events = server.events().await;
    sleep(QUIET).await;
    drop(events);
    server.answer("/api/account/playing", 200, &playing(&[ID.to_owned()]));
    let _events = server.events().await;
    let game = server.game().await;
    game.line(&full(true, ""));
    let (mv, post) = server.hear_move().await;
    post.ok();
    game.line(&over(&mv));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_happened_while_a_stream_was_away_is_followed_forth_and_back() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "games = 1");
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    game.line(&full(false, ""));
    server.hears_nothing().await;
    let mut before = game;
    // Many moves more; then most of them taken back; then others in their place.
    for line in ["e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1", "e2e4", "d2d4 d7d5 c2c4"] {
        drop(before);
        let game = server.game().await;
        game.line(&full(false, line));
        let (mv, post) = server.hear_move().await;
        assert!(is_legal(line, &mv), "{mv} after {line}");
        post.ok();
        game.line(&state(&format!("{line} {mv}"), ""));
        server.hears_nothing().await;
        before = game;
    }
    before.line(&over("d2d4"));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_that_counts_no_more_is_not_sent_again() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "games = 1");
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    game.line(&full(true, ""));
    for status in [503, 429] {
        server.hear_move().await.1.answer(status, "{}");
    }
    game.line(&over(""));
    server.hears_nothing().await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_hangs_holds_up_neither_its_move_nor_another_game() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "games = 2");
    let events = server.events().await;
    let mut games = Vec::new();
    let mut hanging = None;
    for id in ["aaaaaaaa", "bbbbbbbb"] {
        events.line(&of_game(id, &game_event("gameStart")));
        let game = server.game().await;
        game.line(&of_game(id, &full(true, "")));
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

/// The server gets a legal move before the clock runs out whatever the engine does, and nothing else.
#[tokio::test(start_paused = true)]
async fn an_engine_that_fails_costs_no_game() {
    for fault in Fault::ALL {
        let mut server = Server::start().await;
        let client = Client::with(&server, Kind::Faulty(fault), "games = 1");
        let events = server.events().await;
        events.line(&game_event("gameStart"));
        let game = server.game().await;
        game.line(&full(true, ""));
        let mut line = String::new();
        for reply in ["", " e7e5"] {
            line += reply;
            game.line(&state(&line, ""));
            let (mv, post) = server.hear_move().await;
            assert!(is_legal(&line, &mv), "{fault}: {mv} after {line}");
            post.ok();
            line = format!("{line} {mv}").trim().to_owned();
        }
        game.line(&over(&line));
        client.ends().await;
    }
}

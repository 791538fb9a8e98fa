//! Correspondence games on Lichess: they sleep between moves, wake by the list of running games, and take no place
//! that a game with a clock wants.

use std::collections::BTreeMap;

use tokio::time::{sleep, timeout};
use zeitnot::scripted_lichess;
use zeitnot_rules::{Game, chess::Chess};

use crate::support::{
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, over, state},
    lichess_server::{Feed, Post, QUIET, Server},
    wait::LONG,
};

const DAYS: &str = r#"{"type":"correspondence","daysPerTurn":3}"#;
/// Nobody is waited for, and sleeping games are looked at often.
const BRISK: &str = "correspondence = { max_active = 3, move_time = '50ms', disconnect_time = '0s', checkin_period = '300ms', \
                     max_games = 101 }\nchallenge.human.time_controls = ['bullet', 'blitz', 'correspondence']";

fn name(number: usize) -> String {
    format!("{number:08}")
}

/// One of our games as the list has it, and how many seconds we have if it is our turn.
fn listed(id: &str, left: Option<u32>) -> String {
    let turn = left.map_or(String::new(), |left| format!(r#","isMyTurn":true,"secondsLeft":{left}"#));
    format!(r#"{{"gameId":"{id}","color":"white","speed":"correspondence"{turn}}}"#)
}

/// The list from now on.
fn playing(server: &Server, games: impl IntoIterator<Item = String>) {
    let games: Vec<_> = games.into_iter().collect();
    server.answer("/api/account/playing", 200, &format!(r#"{{"nowPlaying":[{}]}}"#, games.join(",")));
}

/// The whole game, in which we have White.
fn days(id: &str, moves: &str) -> String {
    let clock = r#""clock":{"initial":60000,"increment":0}"#;
    full(true, moves)
        .replace(clock, r#""daysPerTurn":3,"speed":"correspondence""#)
        .replace(ID, id)
        .replace(r#""wtime":2000"#, r#""wtime":259200000"#)
}

async fn nothing_opened(server: &mut Server) {
    if let Ok(feed) = timeout(2 * QUIET, server.games.recv()).await {
        panic!("opened {}", feed.unwrap().path);
    }
}

fn id(feed: &Feed) -> String {
    feed.path.rsplit('/').next().unwrap().to_owned()
}

/// An event, or a line of the list, says that this game runs.
fn started(id: &str, left: Option<u32>) -> String {
    format!(r#"{{"type":"gameStart","game":{}}}"#, listed(id, left))
}

fn replied(moves: &str) -> String {
    let mut board = Chess::start();
    for text in moves.split_whitespace() {
        board.play(board.read(text).unwrap());
    }
    format!("{moves} {}", board.write(board.moves()[0]))
}

#[tokio::test(start_paused = true)]
async fn a_game_sleeps_until_the_opponent_has_moved() {
    let mut server = Server::start().await;
    let client = Client::start(&server, &format!("games = 1\n{BRISK}"));
    let events = server.events().await;
    events.line(&challenge(ID, DAYS));
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/challenge/{ID}/accept"));
    post.ok();
    playing(&server, [listed(ID, Some(1000))]);
    events.line(&started(ID, Some(1000)));
    let mut moves = String::new();
    for _ in 0..3 {
        let game = server.game().await;
        game.line(&days(ID, &moves));
        let (mv, post) = server.hear_move().await;
        moves = format!("{moves} {mv}").trim().to_owned();
        playing(&server, [listed(ID, None)]);
        post.ok();
        game.line(&state(&moves, ""));
        nothing_opened(&mut server).await;
        assert!(game.is_left(), "the stream is closed while the game sleeps");
        moves = replied(&moves);
        playing(&server, [listed(ID, Some(1000))]);
    }
    let game = server.game().await;
    game.line(&days(ID, &moves).replace("started", "resign"));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn an_opponent_who_answers_at_once_is_waited_for() {
    let mut server = Server::start().await;
    let settings = "correspondence = { move_time = '50ms' }";
    let client = Client::start(&server, settings);
    let events = server.events().await;
    events.line(&started(ID, Some(1000)));
    let game = server.game().await;
    let mut moves = String::new();
    game.line(&days(ID, &moves));
    for _ in 0..3 {
        let (mv, post) = server.hear_move().await;
        moves = format!("{moves} {mv}").trim().to_owned();
        post.ok();
        game.line(&state(&moves, ""));
        sleep(QUIET).await;
        moves = replied(&moves);
        game.line(&state(&moves, ""));
    }
    server.hear_move().await.1.ok();
    assert!(!game.is_left());
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_ended_while_it_slept_frees_its_place() {
    let mut server = Server::start().await;
    playing(&server, [listed(&name(1), None), listed(&name(2), None)]);
    let client = Client::start(&server, &BRISK.replace("101", "2"));
    let events = server.events().await;
    nothing_opened(&mut server).await;
    let full = r#"{"id":"them","name":"Them"}"#;
    for (number, challenger) in [(1, "a"), (2, "b")] {
        // The first is missing from the list, and of the second there is an event.
        if number == 1 {
            playing(&server, [listed(&name(2), None)]);
        } else {
            let over = started(&name(2), None).replace("gameStart", "gameFinish");
            events.line(&over.replace(r#""color""#, r#""status":{"name":"resign"},"color""#));
            playing(&server, []);
        }
        let game = server.game().await;
        assert_eq!(id(&game), name(number));
        game.line(&days(&name(number), "e2e4 e7e5").replace("started", "resign"));
        let new = challenge(&format!("abcdefg{number}"), DAYS);
        events.line(&new.replace(full, &format!(r#"{{"id":"{challenger}","name":"{challenger}"}}"#)));
        let post = server.post().await;
        assert_eq!(post.path, format!("/api/challenge/abcdefg{number}/accept"));
        post.ok();
    }
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_goes_on_and_nobody_waits_for_those_who_sleep() {
    let mut server = Server::start().await;
    playing(&server, [listed(&name(1), Some(1000)), listed(&name(2), None)]);
    let client = Client::start(&server, BRISK);
    let game = server.game().await;
    game.line(&days(&name(1), ""));
    // The move is on its way, and nobody knows what became of it.
    let (mv, post) = server.hear_move().await;
    client.shutdown.now.cancel();
    client.ends().await;
    drop((game, post));
    let client = Client::start(&server, BRISK);
    let game = server.game().await;
    assert_eq!(id(&game), name(1));
    let moves = replied(&mv);
    game.line(&days(&name(1), &moves));
    let (mv, post) = server.hear_move().await;
    playing(&server, [listed(&name(1), None), listed(&name(2), None)]);
    post.ok();
    client.shutdown.soon.cancel();
    game.line(&state(&format!("{moves} {mv}"), ""));
    client.ends().await;
}

/// Answers all streams and moves until so many moves were heard. In which order the games were opened, and how many
/// streams were open at most.
async fn serve(server: &mut Server, all: usize) -> (Vec<usize>, usize) {
    let (mut open, mut order, mut most) = (BTreeMap::new(), Vec::new(), 0);
    let mut moved = BTreeMap::new();
    while moved.len() < all {
        let streams: &mut scripted_lichess::Server = server;
        let heard: Result<Feed, Post> = tokio::select! {
            feed = streams.games.recv() => Ok(feed.unwrap()),
            post = streams.posts.recv() => Err(post.unwrap()),
            () = sleep(LONG) => panic!("{} of {all} moved, {} open", moved.len(), open.len()),
        };
        match heard {
            Ok(feed) => {
                let id = id(&feed);
                feed.line(&days(&id, moved.get(&id).map_or("", String::as_str)));
                let number = id.parse().unwrap();
                if !order.contains(&number) {
                    order.push(number);
                }
                open.insert(id, feed);
                open.retain(|_, feed| !feed.is_left());
                most = most.max(open.len());
            }
            Err(post) => {
                let (path, mv) = post.path.split_once("/move/").expect("a move");
                let (id, mv) = (path.rsplit('/').next().unwrap().to_owned(), mv.to_owned());
                assert!(moved.insert(id.clone(), mv.clone()).is_none(), "two moves in {id}");
                let urgent = (0..all).map(name).filter(|id| !moved.contains_key(id));
                let urgent = urgent.map(|id| listed(&id, id.parse().ok()));
                playing(server, urgent.chain(moved.keys().map(|id| listed(id, None))).take(50));
                post.ok();
                open[&id].line(&state(&mv, ""));
            }
        }
    }
    (order, most)
}

#[tokio::test(start_paused = true)]
async fn a_hundred_games_are_played_a_few_at_a_time_and_leave_room_for_clocks() {
    let mut server = Server::start().await;
    let all = |turn: bool| (0..100).map(move |number| listed(&name(number), turn.then_some(number as u32)));
    // The most urgent first, and not more than fifty.
    playing(&server, all(true).take(50));
    let client = Client::start(&server, &format!("concurrency = 1\n{BRISK}"));
    let events = server.events().await;
    for number in 0..100 {
        events.line(&started(&name(number), Some(number as u32)));
    }
    let (order, most) = serve(&mut server, 100).await;
    // The next may be there before the server has seen that the last is gone.
    assert!(most <= 10, "{most} open at once");
    let late = order.iter().enumerate().filter(|(at, number)| at.abs_diff(**number) > 6);
    // One whose stream takes long to open is overtaken.
    assert!(late.count() <= 5, "the urgent ones first: {order:?}");
    playing(&server, all(false));
    sleep(QUIET).await;
    while let Ok(feed) = server.games.try_recv() {
        feed.line(&days(&id(&feed), "e2e4"));
    }
    nothing_opened(&mut server).await;
    // One more of them has a place; the next waits, and another of the same person does not. For a clock there is room.
    for (id, time, answer) in [
        ("abcdefgh", DAYS, Some("accept")),
        ("11112222", DAYS, None),
        ("ABCDEFGH", DAYS, Some("decline")),
        (ID, CLOCK, Some("accept")),
    ] {
        events.line(&challenge(id, time));
        if let Some(answer) = answer {
            let post = server.post().await;
            assert_eq!(post.path, format!("/api/challenge/{id}/{answer}"));
            post.ok();
        }
    }
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    assert_eq!(id(&game), ID);
    game.line(&full(true, ""));
    let (mv, post) = server.hear_move().await;
    post.ok();
    game.line(&over(&mv));
    client.shutdown.now.cancel();
    client.ends().await;
}

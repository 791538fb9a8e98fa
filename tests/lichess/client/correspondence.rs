//! Correspondence games on Lichess: they are closed between moves, opened again by the list of running games, and
//! take no place of a game with a clock.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::{Instant, sleep, timeout};
use zeitnot_measure::scripted_lichess;
use zeitnot_testing::LONG;

use crate::support::{
    lichess_client::{
        CLOCK, ID, THEM, challenge, full, game_event, of_game, online, over, replied, start, state,
    },
    lichess_server::{Feed, Post, QUIET, Server},
};

/// In a game's first line, instead of its clock.
const DAYS_LEFT: &str = r#""daysPerTurn":3,"speed":"correspondence""#;
const DAYS: &str = r#"{"type":"correspondence","daysPerTurn":3}"#;
/// Streams are closed at once, and the list is read often.
const BRISK: &str = "correspondence = { max_active = 3, move_time = '50ms', disconnect_time = '0s', checkin_period = '300ms', \
                     max_games = 101 }\nchallenge.human.time_controls = ['bullet', 'blitz', 'correspondence']";

fn name(number: usize) -> String {
    format!("{number:08}")
}

/// Entry of the list in a game in which we have moved, with our seconds if it is our turn.
fn listed(id: &str, left: Option<u32>) -> String {
    let turn = left.map_or(String::new(), |left| format!(r#","isMyTurn":true,"secondsLeft":{left}"#));
    format!(r#"{{"gameId":"{id}","color":"white","hasMoved":true,"speed":"correspondence"{turn}}}"#)
}

/// The first line of a game's stream, in which we have White.
fn days(id: &str, moves: &str) -> String {
    let clock = r#""clock":{"initial":60000,"increment":0}"#;
    of_game(id, &full(true, moves))
        .replace(clock, DAYS_LEFT)
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

/// Event of a running game.
fn started(id: &str, left: Option<u32>) -> String {
    format!(r#"{{"type":"gameStart","game":{}}}"#, listed(id, left))
}

#[test(start_paused = true)]
async fn a_game_sleeps_until_the_opponent_has_moved() {
    let (mut server, client) = online(&format!("games = 1\n{BRISK}")).await;
    server.tell(&challenge(ID, DAYS));
    server.hear_challenge(ID, "accept").await.ok();
    server.lists([listed(ID, Some(1000))]);
    server.tell(&started(ID, Some(1000)));
    let mut moves = String::new();
    for _ in 0..3 {
        let game = server.game().await;
        game.line(&days(ID, &moves));
        let post;
        (moves, post) = server.hear_move_after(&moves).await;
        server.lists([listed(ID, None)]);
        post.ok();
        game.line(&state(&moves, ""));
        nothing_opened(&mut server).await;
        assert!(game.is_left(), "the stream is closed while the game sleeps");
        moves = replied(&moves);
        server.lists([listed(ID, Some(1000))]);
    }
    let game = server.game().await;
    game.line(&days(ID, &moves).replace("started", "resign"));
    client.ends().await;
}

/// The list is not read for minutes, in which the opponent would wait.
#[test(start_paused = true)]
async fn a_new_game_is_greeted_and_answered_at_once_whoever_begins() {
    let settings = BRISK.replace("300ms", "5m").replace("disconnect_time = '0s'", "disconnect_time = '3m'");
    let (mut server, client) = online(&format!("{settings}\n[chat]\nhello = 'Good luck'")).await;
    let began = Instant::now();
    server.tell(&started(ID, None).replace(r#""hasMoved":true"#, r#""hasMoved":false"#));
    let game = server.game().await;
    let black = full(false, "").replace(r#""clock":{"initial":60000,"increment":0}"#, DAYS_LEFT);
    game.line(&black);
    let greeting = server.hear(&format!("/api/bot/game/{ID}/chat")).await;
    assert!(greeting.body.contains("Good+luck"), "{}", greeting.body);
    greeting.ok();
    game.line(&state("e2e4", ""));
    server.take_move_after("e2e4").await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn the_stream_stays_open_for_an_opponent_who_answers_at_once() {
    let (mut server, client) = online("correspondence = { move_time = '50ms' }").await;
    server.tell(&started(ID, Some(1000)));
    let game = server.game().await;
    let mut moves = String::new();
    game.line(&days(ID, &moves));
    for _ in 0..3 {
        moves = server.take_move_after(&moves).await;
        game.line(&state(&moves, ""));
        sleep(QUIET).await;
        moves = replied(&moves);
        game.line(&state(&moves, ""));
    }
    server.take_move().await;
    assert!(!game.is_left());
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_game_that_ended_while_it_slept_frees_its_place() {
    let mut server = Server::start().await;
    server.lists([listed(&name(1), None), listed(&name(2), None)]);
    let client = start(&server, &BRISK.replace("101", "2"));
    server.online().await;
    nothing_opened(&mut server).await;
    for (number, challenger) in [(1, "a"), (2, "b")] {
        // The first is missing from the list, and of the second there is an event.
        if number == 1 {
            server.lists([listed(&name(2), None)]);
        } else {
            let over = started(&name(2), None).replace("gameStart", "gameFinish");
            server.tell(&over.replace(r#""color""#, r#""status":{"name":"resign"},"color""#));
            server.lists([]);
        }
        let game = server.game().await;
        assert_eq!(id(&game), name(number));
        game.line(&days(&name(number), "e2e4 e7e5").replace("started", "resign"));
        let new = challenge(&format!("abcdefg{number}"), DAYS);
        server.tell(&new.replace(THEM, &format!(r#"{{"id":"{challenger}","name":"{challenger}"}}"#)));
        server.hear_challenge(&format!("abcdefg{number}"), "accept").await.ok();
    }
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn games_go_on_after_a_restart_and_a_stop_does_not_wait_for_sleeping_ones() {
    let mut server = Server::start().await;
    server.lists([listed(&name(1), Some(1000)), listed(&name(2), None)]);
    let client = start(&server, BRISK);
    let game = server.game().await;
    game.line(&days(&name(1), ""));
    // The move is on its way, and nobody knows what became of it.
    let (mv, post) = server.hear_move().await;
    client.ends_now().await;
    drop((game, post));
    let client = start(&server, BRISK);
    let game = server.game().await;
    assert_eq!(id(&game), name(1));
    let moves = replied(&mv);
    game.line(&days(&name(1), &moves));
    let (mv, post) = server.hear_move().await;
    server.lists([listed(&name(1), None), listed(&name(2), None)]);
    post.ok();
    client.shutdown.soon.cancel();
    game.line(&state(&format!("{moves} {mv}"), ""));
    client.ends().await;
}

/// Answers all streams and moves until this many moves came. Returns the order in which the games were opened, and
/// the largest number of open streams.
async fn serve(server: &mut Server, all: usize) -> (Vec<usize>, usize) {
    let mut open = BTreeMap::new();
    let mut order = Vec::new();
    let mut most = 0;
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
                let id = path.rsplit('/').next().unwrap().to_owned();
                let mv = mv.to_owned();
                assert!(moved.insert(id.clone(), mv.clone()).is_none(), "two moves in {id}");
                let urgent = (0..all).map(name).filter(|id| !moved.contains_key(id));
                let urgent = urgent.map(|id| listed(&id, id.parse().ok()));
                server.lists(urgent.chain(moved.keys().map(|id| listed(id, None))).take(50));
                post.ok();
                open[&id].line(&state(&mv, ""));
            }
        }
    }
    (order, most)
}

#[test(start_paused = true)]
async fn a_hundred_games_are_played_a_few_at_a_time_and_leave_room_for_games_with_clocks() {
    let mut server = Server::start().await;
    let all = |turn: bool| (0..100).map(move |number| listed(&name(number), turn.then_some(number as u32)));
    // The most urgent first, and not more than fifty.
    server.lists(all(true).take(50));
    let client = start(&server, &format!("concurrency = 1\n{BRISK}"));
    server.online().await;
    for number in 0..100 {
        server.tell(&started(&name(number), Some(number as u32)));
    }
    let (order, most) = serve(&mut server, 100).await;
    // The next may be there before the server has seen that the last is gone.
    assert!(most <= 10, "{most} open at once");
    let late = order.iter().enumerate().filter(|(at, number)| at.abs_diff(**number) > 6);
    // One whose stream takes long to open is overtaken.
    assert!(late.count() <= 5, "the urgent ones first: {order:?}");
    server.lists(all(false));
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
        server.tell(&challenge(id, time));
        if let Some(answer) = answer {
            server.hear(&format!("/api/challenge/{id}/{answer}")).await.ok();
        }
    }
    server.tell(&game_event("gameStart"));
    let game = server.game().await;
    assert_eq!(id(&game), ID);
    game.line(&full(true, ""));
    let mv = server.take_move().await;
    game.line(&over(&mv));
    client.ends_now().await;
}

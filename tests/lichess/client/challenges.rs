//! Challenges to the Lichess client: who waits and who goes first, what vanishes, what is declined and why, and
//! the lists of who is played.

use std::time::Duration;

use tokio::time::sleep;

use crate::support::{
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, over},
    lichess_server::{self, Feed, QUIET, Server},
    wait::soon,
};

const CAP: &str = r#"{"error":"Enough","ratelimit":{"key":"bot.vsBot.day","seconds":3600}}"#;

/// A challenge by somebody else.
fn from(id: &str, who: &str, title: &str, rating: i32) -> String {
    let user = format!(r#"{{"id":"{who}","name":"{who}","title":"{title}","rating":{rating}}}"#);
    challenge(id, CLOCK).replace(r#"{"id":"them","name":"Them"}"#, &user)
}

fn of_game(id: &str, text: &str) -> String {
    text.replace(ID, id)
}

/// The next request, which accepts this challenge.
async fn accepts(server: &mut Server, id: &str) -> lichess_server::Post {
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/challenge/{id}/accept"), "{}", post.body);
    post
}

async fn declines(server: &mut Server, id: &str, reason: &str) {
    let post = server.post().await;
    assert_eq!((post.path, post.body), (format!("/api/challenge/{id}/decline"), format!("reason={reason}")));
}

/// A game that came of a challenge, in which we are not to move.
async fn plays(server: &mut Server, events: &Feed, id: &str) -> Feed {
    events.line(&of_game(id, &game_event("gameStart")));
    let game = server.game().await;
    game.line(&of_game(id, &full(false, "")));
    game
}

#[tokio::test(start_paused = true)]
async fn the_best_who_waits_goes_first_and_who_is_gone_is_passed_over() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "concurrency = 1\ngames = 2\nchallenge = { sort_by = 'best' }");
    let events = server.events().await;
    events.line(&from("aaaaaaaa", "a", "", 1500));
    accepts(&mut server, "aaaaaaaa").await.ok();
    let game = plays(&mut server, &events, "aaaaaaaa").await;
    for (id, who, rating) in
        [("bbbbbbbb", "b", 1500), ("cccccccc", "c", 2500), ("dddddddd", "d", 2000), ("eeeeeeee", "e", 2200)]
    {
        events.line(&from(id, who, "BOT", rating));
    }
    server.hears_nothing().await;
    events.line(&from("eeeeeeee", "e", "BOT", 2200).replace(r#""challenge","#, r#""challengeCanceled","#));
    sleep(QUIET).await;
    game.line(&over(""));
    accepts(&mut server, "cccccccc").await.answer(404, r#"{"error":"No such challenge"}"#);
    accepts(&mut server, "dddddddd").await.ok();
    let game = plays(&mut server, &events, "dddddddd").await;
    sleep(QUIET).await;
    game.line(&over(""));
    // Two games were to be played: who still waits is told.
    declines(&mut server, "bbbbbbbb", "later").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn humans_have_a_place_and_leaving_tells_who_waits() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "concurrency = 2\nchallenge = { reserved_for_humans = 1 }");
    let events = server.events().await;
    events.line(&from("aaaaaaaa", "x", "BOT", 1500));
    accepts(&mut server, "aaaaaaaa").await.ok();
    let first = plays(&mut server, &events, "aaaaaaaa").await;
    events.line(&from("bbbbbbbb", "y", "BOT", 1500));
    server.hears_nothing().await;
    events.line(&from("cccccccc", "a", "", 1500));
    accepts(&mut server, "cccccccc").await.ok();
    let second = plays(&mut server, &events, "cccccccc").await;
    // The human's game ends, and its place is still none for a bot.
    second.line(&over(""));
    server.hears_nothing().await;
    client.shutdown.soon.cancel();
    declines(&mut server, "bbbbbbbb", "later").await;
    events.line(&from("dddddddd", "b", "", 1500));
    declines(&mut server, "dddddddd", "later").await;
    first.line(&over(""));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_was_found_takes_a_place() {
    let mut server = Server::start().await;
    let found =
        r#"{"nowPlaying":[{"gameId":"aaaaaaaa","color":"black","opponent":{"id":"x","username":"BOT x"}}]}"#;
    server.answer("/api/account/playing", 200, found);
    let client = Client::start(&server, "concurrency = 1\nchallenge = { max_queue = 0 }");
    let events = server.events().await;
    let game = server.game().await;
    game.line(&of_game("aaaaaaaa", &full(false, "")));
    events.line(&from("bbbbbbbb", "b", "", 1500));
    declines(&mut server, "bbbbbbbb", "later").await;
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn an_acceptance_whose_answer_was_lost_is_one_all_the_same() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "concurrency = 1\ngames = 1");
    let events = server.events().await;
    events.line(&from("aaaaaaaa", "a", "", 1500));
    accepts(&mut server, "aaaaaaaa").await.answer(502, "<html>");
    accepts(&mut server, "aaaaaaaa").await.answer(404, r#"{"error":"No such challenge"}"#);
    // It may be a game: its place is taken, and it was the only one to be played.
    events.line(&from("bbbbbbbb", "b", "", 1500));
    declines(&mut server, "bbbbbbbb", "later").await;
    let game = plays(&mut server, &events, "aaaaaaaa").await;
    game.line(&over(""));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn who_has_played_enough_bots_plays_humans() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "");
    let events = server.events().await;
    // The opponent may play no more: that is no reason to decline others.
    events.line(&from("aaaaaaaa", "x", "BOT", 1500));
    accepts(&mut server, "aaaaaaaa").await.answer(400, CAP);
    declines(&mut server, "aaaaaaaa", "later").await;
    events.line(&from("bbbbbbbb", "y", "BOT", 1500));
    accepts(&mut server, "bbbbbbbb").await.answer(429, CAP);
    declines(&mut server, "bbbbbbbb", "later").await;
    events.line(&from("cccccccc", "z", "BOT", 1500));
    declines(&mut server, "cccccccc", "later").await;
    // And nobody waits for an hour.
    events.line(&from("dddddddd", "a", "", 1500));
    accepts(&mut server, "dddddddd").await.ok();
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn the_lists_of_who_is_played_change_while_we_play() {
    let mut server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("never.txt");
    std::fs::write(&file, "eve\n").unwrap();
    server.answer("/list", 200, "# cheats\nmallory\n");
    let client = Client::start(
        &server,
        &format!(
            "players = {{ block_list_file = '{}', online_block_list = ['{}list'], file_check_period = '50ms', download_period = '50ms' }}",
            file.display(),
            server.url
        ),
    );
    let events = server.events().await;
    sleep(QUIET).await;
    for (id, who) in [("aaaaaaaa", "eve"), ("bbbbbbbb", "mallory")] {
        events.line(&from(id, who, "", 1500));
        declines(&mut server, id, "generic").await;
    }
    std::fs::write(&file, "# nobody any more\n").unwrap();
    // A list that is away for a while still holds.
    server.answer("/list", 500, "");
    sleep(Duration::from_secs(1)).await;
    events.line(&from("cccccccc", "eve", "", 1500));
    accepts(&mut server, "cccccccc").await.ok();
    events.line(&from("dddddddd", "mallory", "", 1500));
    declines(&mut server, "dddddddd", "generic").await;
    client.shutdown.now.cancel();
    soon("it ends", client.ends()).await;
}

/// A game that was found at the start: nothing says who plays, but the game itself.
#[tokio::test(start_paused = true)]
async fn who_plays_in_a_game_that_was_found_is_told_by_the_game() {
    for (title, answer) in [(r#""title":"BOT","#, None), ("", Some("accept"))] {
        let mut server = Server::start().await;
        let found =
            format!(r#"{{"gameId":"{ID}","color":"white","opponent":{{"id":"them","username":"Them"}}}}"#);
        server.answer("/api/account/playing", 200, &format!(r#"{{"nowPlaying":[{found}]}}"#));
        let _client = Client::start(&server, "concurrency = 2\nchallenge = { reserved_for_humans = 1 }");
        let events = server.events().await;
        let game = server.game().await;
        game.line(&full(true, "").replace(r#""id":"them","#, &format!(r#"{title}"id":"them","#)));
        let (_, post) = server.hear_move().await;
        post.ok();
        // The one place that a bot may have is taken, or not.
        events.line(&from("bbbbbbbb", "b", "BOT", 1500));
        match answer {
            Some(_) => accepts(&mut server, "bbbbbbbb").await.ok(),
            None => server.hears_nothing().await,
        }
        events.line(&from("cccccccc", "c", "", 1500));
        if answer.is_none() {
            accepts(&mut server, "cccccccc").await.ok();
        }
    }
}

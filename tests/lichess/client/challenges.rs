//! Challenges to the Lichess client: order, cancellation, reasons of declining, and block lists.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::support::{
    lichess_client::{CLOCK, ID, THEM, challenge, full, online, over, start},
    lichess_server::{Feed, Post, QUIET, Server},
};

const CAP: &str = r#"{"error":"Enough","ratelimit":{"key":"bot.vsBot.day","seconds":3600}}"#;

/// A challenge by another user.
fn from(id: &str, who: &str, title: &str, rating: i32) -> String {
    let user = format!(r#"{{"id":"{who}","name":"{who}","title":"{title}","rating":{rating}}}"#);
    challenge(id, CLOCK).replace(THEM, &user)
}

impl Server {
    /// Expects that this challenge is accepted.
    async fn accepts(&mut self, id: &str) -> Post {
        self.hear_challenge(id, "accept").await
    }

    async fn declines(&mut self, id: &str, reason: &str) {
        self.hear_form(&format!("/api/challenge/{id}/decline"), &format!("reason={reason}")).await.ok();
    }

    /// Grants the acceptance of a challenge, and begins its game, in which we are not to move.
    async fn plays(&mut self, id: &str) -> Feed {
        self.accepts(id).await.ok();
        self.begin_as(id, &full(false, "")).await
    }
}

#[test(start_paused = true)]
async fn a_wait_that_the_server_asks_for_is_kept() {
    const WAIT: Duration = Duration::from_secs(120);
    let (mut server, client) = online("").await;
    server.tell(&challenge("aaaaaaaa", CLOCK));
    server.accepts("aaaaaaaa").await.limit(WAIT);
    let since = Instant::now();
    sleep(QUIET).await;
    server.tell(&challenge("bbbbbbbb", CLOCK));
    server.accepts("bbbbbbbb").await;
    assert!(since.elapsed() >= WAIT, "{:?}", since.elapsed());
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn the_strongest_challenger_goes_first_and_canceled_challenges_are_skipped() {
    let (mut server, client) = online("concurrency = 1\ngames = 2\nchallenge = { sort_by = 'best' }").await;
    server.tell(&from("aaaaaaaa", "a", "", 1500));
    let game = server.plays("aaaaaaaa").await;
    for (id, who, rating) in
        [("bbbbbbbb", "b", 1500), ("cccccccc", "c", 2500), ("dddddddd", "d", 2000), ("eeeeeeee", "e", 2200)]
    {
        server.tell(&from(id, who, "BOT", rating));
    }
    server.hears_nothing().await;
    server.tell(&from("eeeeeeee", "e", "BOT", 2200).replace(r#""challenge","#, r#""challengeCanceled","#));
    sleep(QUIET).await;
    game.line(&over(""));
    server.accepts("cccccccc").await.answer(404, r#"{"error":"No such challenge"}"#);
    let game = server.plays("dddddddd").await;
    sleep(QUIET).await;
    game.line(&over(""));
    // Both games are played: the last challenge of the queue is declined.
    server.declines("bbbbbbbb", "later").await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn humans_have_a_reserved_place_and_a_stop_declines_the_queue() {
    let (mut server, client) = online("concurrency = 2\nchallenge = { reserved_for_humans = 1 }").await;
    server.tell(&from("aaaaaaaa", "x", "BOT", 1500));
    let first = server.plays("aaaaaaaa").await;
    server.tell(&from("bbbbbbbb", "y", "BOT", 1500));
    server.hears_nothing().await;
    server.tell(&from("cccccccc", "a", "", 1500));
    let second = server.plays("cccccccc").await;
    // The human's game ends, and its place stays closed to bots.
    second.line(&over(""));
    server.hears_nothing().await;
    client.shutdown.soon.cancel();
    server.declines("bbbbbbbb", "later").await;
    server.tell(&from("dddddddd", "b", "", 1500));
    server.declines("dddddddd", "later").await;
    first.line(&over(""));
    client.ends().await;
}

#[test(start_paused = true)]
async fn an_acceptance_whose_answer_was_lost_counts() {
    let (mut server, client) = online("concurrency = 1\ngames = 1").await;
    server.tell(&from("aaaaaaaa", "a", "", 1500));
    server.accepts("aaaaaaaa").await.answer(502, "<html>");
    server.accepts("aaaaaaaa").await.answer(404, r#"{"error":"No such challenge"}"#);
    // It may be a game, and the only one to be played.
    server.tell(&from("bbbbbbbb", "b", "", 1500));
    server.declines("bbbbbbbb", "later").await;
    let game = server.begin_as("aaaaaaaa", &full(false, "")).await;
    game.line(&over(""));
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_daily_limit_of_games_between_bots_leaves_humans() {
    let (mut server, client) = online("").await;
    // The opponent's limit is no reason to decline others.
    server.tell(&from("aaaaaaaa", "x", "BOT", 1500));
    server.accepts("aaaaaaaa").await.answer(400, CAP);
    server.declines("aaaaaaaa", "later").await;
    server.tell(&from("bbbbbbbb", "y", "BOT", 1500));
    server.accepts("bbbbbbbb").await.answer(429, CAP);
    server.declines("bbbbbbbb", "later").await;
    server.tell(&from("cccccccc", "z", "BOT", 1500));
    server.declines("cccccccc", "later").await;
    // Nobody waits for an hour.
    server.tell(&from("dddddddd", "a", "", 1500));
    server.accepts("dddddddd").await.ok();
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn block_lists_change_while_the_client_runs() {
    let mut server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("never.txt");
    std::fs::write(&file, "eve\n").unwrap();
    server.answer("/list", 200, "# cheats\nmallory\n");
    let settings = format!(
        "players = {{ block_list_file = '{}', online_block_list = ['{}list'], file_check_period = '50ms', \
         download_period = '50ms' }}",
        file.display(),
        server.url
    );
    let client = start(&server, &settings);
    server.online().await;
    sleep(QUIET).await;
    for (id, who) in [("aaaaaaaa", "eve"), ("bbbbbbbb", "mallory")] {
        server.tell(&from(id, who, "", 1500));
        server.declines(id, "generic").await;
    }
    std::fs::write(&file, "# nobody any more\n").unwrap();
    // A list that cannot be downloaded for a while stays in force.
    server.answer("/list", 500, "");
    sleep(Duration::from_secs(1)).await;
    server.tell(&from("cccccccc", "eve", "", 1500));
    server.accepts("cccccccc").await.ok();
    server.tell(&from("dddddddd", "mallory", "", 1500));
    server.declines("dddddddd", "generic").await;
    client.ends_now().await;
}

/// The list of running games has no titles, so the game's own stream decides.
#[test(start_paused = true)]
async fn the_stream_of_a_found_game_says_whether_the_opponent_is_a_bot() {
    for (title, is_bot) in [(r#""title":"BOT","#, true), ("", false)] {
        let mut server = Server::start().await;
        server.lists([format!(
            r#"{{"gameId":"{ID}","color":"white","opponent":{{"id":"them","username":"Them"}}}}"#
        )]);
        let _client = start(&server, "concurrency = 2\nchallenge = { reserved_for_humans = 1 }");
        server.online().await;
        let game = server.game().await;
        game.line(&full(true, "").replace(r#""id":"them","#, &format!(r#"{title}"id":"them","#)));
        server.take_move().await;
        // The one place for bots is taken, or not.
        server.tell(&from("bbbbbbbb", "b", "BOT", 1500));
        if is_bot {
            server.hears_nothing().await;
            server.tell(&from("cccccccc", "c", "", 1500));
            server.accepts("cccccccc").await.ok();
        } else {
            server.accepts("bbbbbbbb").await.ok();
        }
    }
}

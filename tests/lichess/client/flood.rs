//! Thousands of challenges or games at once: the game that runs goes on, memory and requests are bounded, and the user
//! reads one line.

use tokio::time::{sleep, timeout};

use crate::support::{
    lichess_client::{CLOCK, THEM, challenge, full, game_event, in_game, of_game, online, over, state},
    lichess_server::{Post, QUIET, Server},
    log::Log,
};

#[test(start_paused = true)]
async fn a_flood_of_challenges_loses_no_game_and_is_told_once() {
    let told = Log::capture();
    let (mut server, client, game) =
        in_game("concurrency = 1\ngames = 1\nchallenge = { max_queue = 5 }", &full(true, "")).await;
    let first = server.take_move().await;
    game.line(&state(&first, ""));
    for number in 0..1000 {
        let them = format!(r#"{{"id":"bot{number}","name":"Bot","title":"BOT"}}"#);
        let flood = challenge(&format!("{number:08}"), CLOCK);
        server.tell(&flood.replace(THEM, &them));
    }
    sleep(QUIET).await;
    // Nothing that is still to be answered stands before the move.
    game.line(&state(&format!("{first} e7e5"), ""));
    let mut declined = 0;
    let mut open = Vec::new();
    let mv = loop {
        let post = server.post().await;
        match post.path.split_once("/move/") {
            Some((_, mv)) => {
                let mv = mv.to_owned();
                post.ok();
                break mv;
            }
            None => open.push(post),
        }
    };
    assert!(open.len() <= 1, "one at a time");
    open.into_iter().for_each(Post::ok);
    while let Ok(Some(post)) = timeout(QUIET, server.posts.recv()).await {
        assert!(post.path.ends_with("/decline") && post.body == "reason=later", "{post:?}");
        declined += 1;
        post.ok();
    }
    assert!((200..=256).contains(&declined), "{declined}");
    game.line(&over(&format!("{first} e7e5 {mv}")));
    client.ends().await;
    assert_eq!(told.count("declining"), 1, "{}", told.text());
    assert_eq!(told.count("999 more challenges declined: later"), 1);
    // Only that the token stands in the table.
    assert_eq!(told.count("WARN"), told.count("the token stands in the configuration"), "{}", told.text());
}

#[test(start_paused = true)]
async fn what_the_opponent_does_again_and_again_is_answered_by_one_request_at_a_time() {
    let (mut server, client, game) = in_game("", &full(false, "")).await;
    for _ in 0..1000 {
        game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":0}"#);
        game.line(&state("", r#","wtakeback":true"#));
        game.line(&state("", ""));
    }
    let mut open = Vec::new();
    while let Ok(Some(post)) = timeout(QUIET, server.posts.recv()).await {
        open.push(post);
    }
    let ends_with = |end: &str| open.iter().filter(|post| post.path.ends_with(end)).count();
    assert_eq!([ends_with("/claim-victory"), ends_with("/takeback/no")], [1, 1]);
    assert!(open.len() <= 3, "{open:?}");
    // The game goes on meanwhile.
    game.line(&state("e2e4", ""));
    let moves = server.take_move_after("e2e4").await;
    game.line(&over(&moves));
    client.ends_now().await;
}

/// Games that begin, as many as a stream holds before its reader reads.
const FLOOD: usize = 4000;

fn tell_flood(server: &Server) {
    for number in 0..FLOOD {
        server.tell(&of_game(&format!("{number:08}"), &game_event("gameStart")));
    }
}

#[test(start_paused = true)]
async fn a_flood_of_games_is_cut_off() {
    let told = Log::capture();
    let (mut server, client) = online("").await;
    tell_flood(&server);
    let mut games = Vec::new();
    while let Ok(Some(game)) = timeout(QUIET, server.games.recv()).await {
        games.push(game);
    }
    assert_eq!(games.len(), 256);
    assert!(server.posts.try_recv().is_err());
    // Few find a player; the others ask for one again and again.
    games.iter().for_each(|game| game.line(&full(false, "")));
    sleep(20 * QUIET).await;
    let token = told.count("the token stands in the configuration");
    assert_eq!(told.count("WARN"), token + 1, "{}", told.text());
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_flood_of_games_while_leaving_is_aborted_one_by_one() {
    let (mut server, client, game) = in_game("", &full(true, "")).await;
    let line = server.take_move().await;
    client.shutdown.soon.cancel();
    sleep(QUIET).await;
    tell_flood(&server);
    let mut aborted = 0;
    while let Ok(Some(post)) = timeout(QUIET, server.posts.recv()).await {
        assert!(post.path.ends_with("/abort"), "{post:?}");
        sleep(QUIET / 8).await;
        assert!(server.posts.try_recv().is_err(), "one at a time");
        post.ok();
        aborted += 1;
    }
    assert!((64..=512).contains(&aborted), "{aborted}");
    game.line(&over(&line));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_flood_of_declines_is_told_briefly() {
    let told = Log::capture();
    let (mut server, client, game) = in_game("games = 1", &full(false, "")).await;
    let us = r#""challenger":{"id":"zeitnot","name":"Zeitnot"}"#;
    for number in 0..1000 {
        let theirs = challenge(&format!("{number:08}"), CLOCK)
            .replace(r#""type":"challenge""#, r#""type":"challengeDeclined""#);
        server.tell(&theirs.replace(&format!(r#""challenger":{THEM}"#), us));
    }
    sleep(QUIET).await;
    game.line(&state("e2e4", ""));
    let moves = server.take_move_after("e2e4").await;
    game.line(&over(&moves));
    client.ends().await;
    assert_eq!(told.count("declines our challenge"), 20, "{}", told.text());
}

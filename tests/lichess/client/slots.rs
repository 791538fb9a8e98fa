//! Slots of games that neither begin nor end: no game keeps its slot for ever.

use std::time::Duration;

use tokio::time::Instant;

use crate::support::{
    lichess_client::{CLOCK, ID, challenge, full, in_game, state},
    log::Log,
};

fn listed(is_our_turn: bool) -> String {
    format!(r#"{{"gameId":"{ID}","color":"black","isMyTurn":{is_our_turn},"secondsLeft":60}}"#)
}

#[test(start_paused = true)]
async fn a_game_that_neither_begins_nor_can_be_aborted_gives_its_slot_to_others() {
    let settings = "concurrency = 1\n[timeouts]\nabort_time = '1s'";
    let (mut server, client, game) = in_game(settings, &full(false, "")).await;
    server.lists([listed(false)]);
    let begun = Instant::now();
    server.hear_game("abort").await.answer(400, r#"{"error":"This game can no longer be aborted"}"#);
    server.tell(&challenge("abcdefgh", CLOCK));
    let post = server.hear_challenge("abcdefgh", "accept").await;
    let took = begun.elapsed();
    assert!((Duration::from_secs(20)..Duration::from_secs(60)).contains(&took), "{took:?}");
    assert!(game.is_left());
    post.answer(404, r#"{"error":"No such challenge"}"#);
    // The opponent moves after all.
    server.lists([listed(true)]);
    let moved = Instant::now();
    let game = server.game().await;
    assert!(moved.elapsed() < Duration::from_secs(30), "{:?}", moved.elapsed());
    game.line(&full(false, "e2e4"));
    server.take_move_after("e2e4").await;
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_game_whose_end_no_stream_tells_frees_its_slot() {
    let told = Log::capture();
    let (mut server, client, game) = in_game("concurrency = 1", &full(true, "")).await;
    let line = server.take_move_after("").await;
    game.line(&state(&line, ""));
    let line = format!("{line} e7e5");
    game.line(&state(&line, ""));
    let line = server.take_move_after(&line).await;
    // The opponent's two seconds run from here on; no stream tells that they are over.
    game.line(&state(&line, ""));
    server.lists([listed(false)]);
    server.tell(&challenge("abcdefgh", CLOCK));
    let begun = Instant::now();
    server.hears_nothing().await;
    server.lists([]);
    let post = server.hear_challenge("abcdefgh", "accept").await;
    let took = begun.elapsed();
    assert!((Duration::from_secs(25)..Duration::from_secs(60)).contains(&took), "{took:?}");
    assert_eq!(told.count("the server no longer lists it"), 2, "{}", told.text());
    drop(post);
    client.ends_now().await;
}

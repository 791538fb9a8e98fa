//! Berserk, which gives half the clock for a point more.

use std::time::Duration;

use zeitnot_rules::Color;
use zeitnot_seat::Clocks;

use crate::support::lichess_client::{finish_seated, full, seated, state};

fn with_increment(text: &str) -> String {
    text.replace(r#""increment":0"#, r#""increment":2000"#).replace(r#""winc":0"#, r#""winc":2000"#)
}

fn in_tournament(white: bool, moves: &str) -> String {
    let full = with_increment(&full(white, moves));
    full.replace(r#""initialFen""#, r#""tournamentId":"ABCDEFGH","initialFen""#)
}

#[test(start_paused = true)]
async fn we_berserk_before_our_first_move_and_think_without_increment() {
    for is_granted in [true, false] {
        let (mut server, client, game, mut seat) =
            seated("games = 1\nberserk = 'always'", &in_tournament(true, "")).await;
        let (turn, clocks) = seat.asked().await;
        assert_eq!(clocks.unwrap().increment, Duration::ZERO);
        let post = server.hear_game("berserk").await;
        if is_granted {
            post.ok();
            game.line(&with_increment(&state("", "").replace(r#""wtime":2000"#, r#""wtime":1000"#)));
        } else {
            post.answer(400, r#"{"error":"This game is not berserkable"}"#);
        }
        seat.play(turn, "e2e4").await;
        server.take_move().await;
        let left = if is_granted { 1000 } else { 2000 };
        let moved = state("e2e4 e7e5", "").replace(r#""wtime":2000"#, &format!(r#""wtime":{left}"#));
        game.line(&with_increment(&moved));
        seat.sees("e2e4 e7e5").await;
        let (_, clocks) = seat.asked().await;
        let Clocks { increment, left: told, .. } = clocks.unwrap();
        assert_eq!(told[Color::White], Duration::from_millis(left));
        assert_eq!(increment, Duration::from_secs(if is_granted { 0 } else { 2 }));
        server.hears_nothing().await;
        finish_seated(client, game, seat, "e2e4 e7e5").await;
    }
}

#[test(start_paused = true)]
async fn we_berserk_only_where_that_is_possible() {
    for (full, is_due) in [
        (in_tournament(false, "e2e4"), true),
        (in_tournament(true, "e2e4 e7e5"), false),
        (in_tournament(false, "e2e4 e7e5 g1f3"), false),
        (with_increment(&full(true, "")), false),
    ] {
        let (mut server, _client, _game, _seat) = seated("games = 1\nberserk = 'always'", &full).await;
        if is_due {
            server.hear_game("berserk").await.ok();
        }
        server.hears_nothing().await;
    }
}

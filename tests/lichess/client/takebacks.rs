//! Takebacks on Lichess.

use zeitnot_seat::Event;

use crate::support::lichess_client::{finish_seated, full, seated, state};

const REQUEST: &str = r#","btakeback":true"#;

#[test(start_paused = true)]
async fn takebacks_are_accepted_up_to_the_limit() {
    let line = "e2e4 e7e5 g1f3 b8c6";
    let settings = "games = 1\nmax_takebacks_accepted = 1";
    let (mut server, client, game, mut seat) = seated(settings, &full(true, line)).await;
    seat.sees(line).await;
    let (turn, _) = seat.asked().await;
    // Asked while we search, and repeated.
    game.line(&state(line, REQUEST));
    game.line(&state(line, REQUEST));
    server.hear_game("takeback/yes").await.ok();
    game.line(&state("e2e4 e7e5 g1f3", ""));
    assert!(matches!(seat.next().await, Event::TakenBack { plies: 1 }));
    // The request before it is void.
    seat.play(turn, "f1c4").await;
    server.hears_nothing().await;
    game.line(&state("e2e4 e7e5 g1f3 g8f6", ""));
    seat.sees("g8f6").await;
    let (turn, _) = seat.asked().await;
    seat.play(turn, "f3e5").await;
    server.take_move().await;
    let line = "e2e4 e7e5 g1f3 g8f6 f3e5";
    game.line(&state(line, ""));
    seat.sees("f3e5").await;
    game.line(&state(line, REQUEST));
    server.hear_game("takeback/no").await.ok();
    finish_seated(client, game, seat, line).await;
}

#[test(start_paused = true)]
async fn a_takeback_is_not_accepted_twice() {
    let (mut server, client, game, mut seat) =
        seated("games = 1\nmax_takebacks_accepted = 9", &full(false, "e2e4 e7e5 g1f3")).await;
    seat.sees("e2e4 e7e5 g1f3").await;
    seat.asked().await;
    game.line(&state("e2e4 e7e5 g1f3", r#","wtakeback":true"#));
    // The answer is lost. Sent again, it would be a request of ours.
    server.post().await.breaks();
    server.hears_nothing().await;
    // Both moves are taken back: it is still our turn.
    game.line(&state("e2e4", ""));
    assert!(matches!(seat.next().await, Event::TakenBack { plies: 2 }));
    seat.asked().await;
    finish_seated(client, game, seat, "e2e4").await;
}

//! Takebacks on Lichess: so many as are allowed, and the moves before them stay known.

use zeitnot_seat::Event;

use crate::support::{
    lichess_client::{full, over, state},
    lichess_seat::Table,
    lichess_server::Server,
};

const WISH: &str = r#","btakeback":true"#;

#[tokio::test(start_paused = true)]
async fn moves_are_taken_back_as_often_as_is_allowed() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1\nmax_takebacks_accepted = 1").await;
    let line = "e2e4 e7e5 g1f3 b8c6";
    let (game, mut seat) = table.game(&mut server, &full(true, line)).await;
    for mv in line.split(' ') {
        seat.sees(mv).await;
    }
    let (turn, _) = seat.asked().await;
    // While we think; and told twice.
    game.line(&state(line, WISH));
    game.line(&state(line, WISH));
    let post = server.post().await;
    assert!(post.path.ends_with("/takeback/yes"), "{post:?}");
    post.ok();
    game.line(&state("e2e4 e7e5 g1f3", ""));
    let Event::TakenBack { plies } = seat.next().await else { panic!() };
    assert_eq!(plies, 1);
    // What was asked before is moot.
    seat.plays(turn, "f1c4", false).await;
    server.hears_nothing().await;
    game.line(&state("e2e4 e7e5 g1f3 g8f6", ""));
    seat.sees("g8f6").await;
    let (turn, _) = seat.asked().await;
    seat.plays(turn, "f3e5", false).await;
    server.hear_move().await.1.ok();
    let line = "e2e4 e7e5 g1f3 g8f6 f3e5";
    game.line(&state(line, ""));
    seat.sees("f3e5").await;
    game.line(&state(line, WISH));
    let post = server.post().await;
    assert!(post.path.ends_with("/takeback/no"), "{post:?}");
    post.ok();
    game.line(&over(line));
    seat.ended().await;
    table.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_takeback_that_was_agreed_to_is_not_agreed_to_twice() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1\nmax_takebacks_accepted = 9").await;
    let (game, mut seat) = table.game(&mut server, &full(false, "e2e4 e7e5 g1f3")).await;
    for mv in ["e2e4", "e7e5", "g1f3"] {
        seat.sees(mv).await;
    }
    seat.asked().await;
    game.line(&state("e2e4 e7e5 g1f3", r#","wtakeback":true"#));
    // The answer is lost. Said again, it would be a wish of ours.
    server.post().await.breaks();
    server.hears_nothing().await;
    // Ours and theirs at once: it is ours to move all the same.
    game.line(&state("e2e4", ""));
    let Event::TakenBack { plies } = seat.next().await else { panic!() };
    assert_eq!(plies, 2);
    seat.asked().await;
    game.line(&over("e2e4"));
    seat.ended().await;
    table.ends().await;
}

//! Draws in games on Lichess: offered with a move, agreed to with a move, and nothing else.

use zeitnot_seat::{Action, Event};

use crate::support::{
    lichess_client::{full, over, state},
    lichess_seat::Table,
    lichess_server::Server,
};

const OFFER: &str = r#","bdraw":true"#;

#[tokio::test(start_paused = true)]
async fn an_offer_goes_with_the_move_and_each_of_the_opponents_is_heard_once() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1").await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    seat.plays(turn, "e2e4", true).await;
    let (mv, post) = server.hear_move().await;
    assert_eq!(mv, "e2e4?offeringDraw=true");
    post.ok();
    game.line(&state("e2e4", r#","wdraw":true"#));
    seat.sees("e2e4").await;
    // The opponent's own offer, while it is the opponent's turn, and told again with the move.
    game.line(&state("e2e4", OFFER));
    assert!(matches!(seat.next().await, Event::DrawOffered));
    game.line(&state("e2e4 e7e5", OFFER));
    seat.sees("e7e5").await;
    let (turn, _) = seat.asked().await;
    // Any other move declines.
    seat.plays(turn, "g1f3", false).await;
    let (mv, post) = server.hear_move().await;
    assert_eq!(mv, "g1f3");
    post.ok();
    game.line(&state("e2e4 e7e5 g1f3", ""));
    game.line(&state("e2e4 e7e5 g1f3 g8f6", OFFER));
    seat.sees("g1f3").await;
    seat.sees("g8f6").await;
    // A second offer is heard, and before the move is asked for.
    assert!(matches!(seat.next().await, Event::DrawOffered));
    let (turn, _) = seat.asked().await;
    seat.plays(turn, "f3e5", true).await;
    // That ended the game, so the move itself was refused: nothing to complain of.
    let (_, post) = server.hear_move().await;
    post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
    let again = server.game().await;
    again.line(&full(true, "e2e4 e7e5 g1f3 g8f6").replace("started", "draw"));
    assert_eq!(seat.ended().await, "draw by agreement or by rule");
    table.ends().await;
}

#[tokio::test(start_paused = true)]
async fn giving_up_is_repeated_until_the_server_hears_it() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1").await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    seat.actions.send(Action::Resign { turn }).await.unwrap();
    for status in [502, 200] {
        let post = server.post().await;
        assert!(post.path.ends_with("/resign"), "{post:?}");
        post.answer(status, r#"{"ok":true}"#);
    }
    game.line(&over("").replace(r#""moves""#, r#""winner":"black","moves""#));
    assert_eq!(seat.ended().await, "black wins: white resigned");
    table.ends().await;
}

//! Draws and resignations in games on Lichess.

use zeitnot_bot::{Config, policy::Resign};
use zeitnot_clients::lichess::Lichess;
use zeitnot_engine::Kind;
use zeitnot_seat::{Action, Event};

use crate::support::{
    lichess_client::{Client, ID, config, full, over, seated, state},
    lichess_server::Server,
};

const OFFER: &str = r#","bdraw":true"#;

#[test(start_paused = true)]
async fn draw_offers_go_with_moves_and_each_of_the_opponents_is_told_once() {
    let (mut server, client, game, mut seat) = seated("games = 1", &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    seat.act(turn, "e2e4", true, None).await;
    assert_eq!(server.take_move().await, "e2e4?offeringDraw=true");
    game.line(&state("e2e4", r#","wdraw":true"#));
    seat.sees("e2e4").await;
    // The opponent offers before moving, and the offer is repeated with the move.
    game.line(&state("e2e4", OFFER));
    assert!(matches!(seat.next().await, Event::DrawOffered));
    game.line(&state("e2e4 e7e5", OFFER));
    seat.sees("e7e5").await;
    let (turn, _) = seat.asked().await;
    // Any other move declines.
    seat.play(turn, "g1f3").await;
    assert_eq!(server.take_move().await, "g1f3");
    game.line(&state("e2e4 e7e5 g1f3", ""));
    game.line(&state("e2e4 e7e5 g1f3 g8f6", OFFER));
    seat.sees("g1f3 g8f6").await;
    // A second offer is heard, and before the move is asked for.
    assert!(matches!(seat.next().await, Event::DrawOffered));
    let (turn, _) = seat.asked().await;
    seat.act(turn, "f3e5", true, None).await;
    // That ended the game, so the move itself is refused.
    let (_, post) = server.hear_move().await;
    post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
    let again = server.game().await;
    again.line(&full(true, "e2e4 e7e5 g1f3 g8f6").replace("started", "draw"));
    assert_eq!(seat.ended().await, "draw by agreement or by rule");
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_resignation_is_repeated_until_it_arrives() {
    let (mut server, client, game, mut seat) = seated("games = 1", &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    seat.actions.send(Action::Resign { turn }).await.unwrap();
    server.lists([format!(r#"{{"gameId":"{ID}","color":"white"}}"#)]);
    // For longer than other requests are repeated.
    for _ in 0..9 {
        server.hear_game("resign").await.answer(502, "<html>");
    }
    server.hear_game("resign").await.ok();
    game.line(&over("").replace(r#""moves""#, r#""winner":"black","moves""#));
    assert_eq!(seat.ended().await, "black wins: white resigned");
    client.ends().await;
}

#[test]
async fn a_lost_game_is_resigned_only_against_the_opponents_that_are_meant() {
    let resign = Resign { moves: 1, score: 500, ..Resign::default() };
    let bots_only = Resign { against_humans: false, ..resign };
    let strong_only = Resign { min_rating: Some(2300), ..resign };
    for (resign, opponent, expected) in [
        (resign, r#""rating":1500"#, true),
        (bots_only, r#""rating":1500"#, false),
        (bots_only, r#""title":"BOT","rating":1500"#, true),
        (strong_only, r#""rating":2299"#, false),
        (strong_only, r#""rating":2300"#, true),
    ] {
        let mut server = Server::start().await;
        let bot = Config { resign, ..Config::default() };
        let client =
            Client::with_bot::<Lichess>(config(&server.url, "lip_hush", "games = 1"), Kind::Search, bot);
        server.online().await;
        let full = full(true, "")
            .replace("startpos", "7k/8/8/8/8/8/qq5P/7K w - - 0 1")
            .replace(r#""key":"standard""#, r#""key":"fromPosition""#)
            .replace(":2000", ":600000")
            .replace(r#""name":"Them""#, &format!(r#""name":"Them",{opponent}"#));
        let game = server.begin(&full).await;
        let post = server.post().await;
        assert_eq!(post.path.ends_with("/resign"), expected, "{resign:?} {opponent}: {post:?}");
        post.ok();
        game.line(&over(""));
        client.ends().await;
    }
}

#[test(start_paused = true)]
async fn a_game_whose_engine_failed_is_aborted_before_the_second_move_and_resigned_after_it() {
    for (moves, requests) in [
        ("", &[("abort", 200)][..]),
        ("", &[("abort", 400), ("resign", 200)]),
        ("e2e4 e7e5", &[("resign", 502), ("resign", 200)]),
    ] {
        let (mut server, client, game, mut seat) = seated("games = 1", &full(true, moves)).await;
        if !moves.is_empty() {
            seat.sees(moves).await;
        }
        let (turn, _) = seat.asked().await;
        seat.actions.send(Action::Leave { turn }).await.unwrap();
        for &(action, status) in requests {
            let body = if status == 400 { r#"{"error":"Game already started"}"# } else { r#"{"ok":true}"# };
            server.hear_game(action).await.answer(status, body);
        }
        game.line(&over(moves));
        seat.ended().await;
        client.ends().await;
    }
}

//! Chat in games on Lichess: what is said and answered, and that no move waits for it.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers are tests, too

#[path = "support/lichess.rs"]
mod lichess;
#[path = "support/lichess_bot.rs"]
mod lichess_bot;
#[path = "support/lichess_seat.rs"]
mod lichess_seat;

use lichess::{Post, Server};
use lichess_bot::{full, over, state};
use lichess_seat::Table;

const CHAT: &str =
    "games = 1\nchat = { greeting = 'Hi {opponent}, {engine} here', farewell = 'Bye', answers = 2 }";

fn line(room: &str, user: &str, text: &str) -> String {
    format!(r#"{{"type":"chatLine","room":"{room}","username":"{user}","text":"{text}"}}"#)
}

fn says(post: &Post, form: &str) {
    assert!(post.path.ends_with("/chat"), "{post:?}");
    assert_eq!(post.body, form);
}

#[tokio::test]
async fn greeting_answers_and_farewell() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, CHAT).await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    seat.asked().await;
    let post = server.post().await;
    says(&post, "room=player&text=Hi+Them%2C+test+here");
    post.ok();
    game.line(&line("spectator", "Eve", "hello"));
    game.line(&line("spectator", "Zeitnot", "!queue"));
    for _ in 0..3 {
        game.line(&line("spectator", "Eve", "!queue"));
    }
    for _ in 0..2 {
        let post = server.post().await;
        says(&post, "room=spectator&text=Nobody+waits.");
        post.ok();
    }
    server.hears_nothing().await;
    game.line(&over(""));
    seat.ended().await;
    let post = server.post().await;
    says(&post, "room=player&text=Bye");
    post.ok();
    table.ends().await;
}

#[tokio::test]
async fn who_comes_back_to_a_game_greets_nobody() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, CHAT).await;
    let (_game, mut seat) = table.game(&mut server, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4").await;
    seat.sees("e7e5").await;
    seat.asked().await;
    server.hears_nothing().await;
}

/// Plays a move while the chat answers so, or not at all, and thousands talk.
async fn moves_go_out(answer: Option<u16>) {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, CHAT).await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    let (mut turn, _) = seat.asked().await;
    let mut hanging = Vec::new();
    let mut chat = |post: Post| match answer {
        Some(status) => post.answer(status, r#"{"error":"no chat here"}"#),
        None => hanging.push(post),
    };
    chat(server.post().await);
    for number in 0..1000 {
        game.line(&line("player", &format!("u{number}"), "!name"));
    }
    let (mut moves, ours) = (String::new(), ["e2e4", "g1f3", "f1c4"]);
    for (mv, reply) in ours.into_iter().zip(["e7e5", "b8c6", "g8f6"]) {
        seat.plays(turn, mv, false).await;
        loop {
            let post = server.post().await;
            if post.path.contains("/move/") {
                assert!(post.path.ends_with(mv), "{post:?}");
                break post.ok();
            }
            chat(post);
        }
        moves = format!("{moves} {mv} {reply}").trim().to_owned();
        game.line(&state(&moves, ""));
        seat.sees(mv).await;
        seat.sees(reply).await;
        (turn, _) = seat.asked().await;
    }
    game.line(&over(&moves));
    seat.ended().await;
    table.ends().await;
}

#[tokio::test]
async fn moves_go_out_while_the_chat_hangs() {
    moves_go_out(None).await;
}

#[tokio::test]
async fn moves_go_out_while_the_chat_is_refused() {
    moves_go_out(Some(400)).await;
}

#[tokio::test]
async fn moves_go_out_while_the_chat_is_limited() {
    moves_go_out(Some(429)).await;
}

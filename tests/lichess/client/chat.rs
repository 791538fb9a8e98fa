//! Chat in games on Lichess: what is said and answered, and that no move waits for it.

use tokio::time::{Instant, timeout};
use zeitnot_seat::{Eval, EvalScore};

use crate::support::{
    lichess_client::{CLOCK, ID, challenge, full, over, state},
    lichess_seat::Table,
    lichess_server::{Feed, Post, QUIET, Server},
    wait::LONG,
};

const CHAT: &str =
    "games = 1\nchat = { hello = 'Hi {opponent}, {engine} here', goodbye = 'Bye', max_answers = 2 }";

fn line(room: &str, user: &str, text: &str) -> String {
    format!(r#"{{"type":"chatLine","room":"{room}","username":"{user}","text":"{text}"}}"#)
}

fn says(post: &Post, form: &str) {
    assert!(post.path.ends_with("/chat"), "{post:?}");
    assert_eq!(post.body, form);
}

#[tokio::test(start_paused = true)]
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

#[tokio::test(start_paused = true)]
async fn who_comes_back_to_a_game_greets_nobody() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, CHAT).await;
    let (_game, mut seat) = table.game(&mut server, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4").await;
    seat.sees("e7e5").await;
    seat.asked().await;
    server.hears_nothing().await;
}

/// The answer to a line that is repeated until it is answered.
async fn answer(server: &mut Server, game: &Feed, line: &str, wanted: &str) -> String {
    let patience = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < patience, "{line} is not answered with {wanted}");
        game.line(line);
        // Where it is not answered, it is asked again.
        if let Ok(Some(post)) = timeout(QUIET, server.posts.recv()).await {
            assert!(post.path.ends_with("/chat"), "{post:?}");
            let said = post.body.clone();
            post.ok();
            if said.contains(wanted) {
                return said;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_question_has_its_answer_in_its_room() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "concurrency = 1\nchat = { max_answers = 1000 }").await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    let mut said = Vec::new();
    for (room, text) in [
        ("player", "!help"),
        ("spectator", "!help"),
        ("spectator", "!name"),
        ("spectator", "!eval"),
        ("player", "!eval"),
    ] {
        game.line(&line(room, "Eve", text));
        let post = server.post().await;
        assert_eq!(post.path, format!("/api/bot/game/{ID}/chat"));
        said.push(post.body.clone());
        post.ok();
    }
    let name = format!("room=spectator&text=Zeitnot%2C+on+test+{}", env!("CARGO_PKG_VERSION"));
    let expected = [
        "room=player&text=I+answer+%21help%2C+%21name%2C+%21eval%2C+%21queue.",
        "room=spectator&text=I+answer+%21help%2C+%21name%2C+%21eval%2C+%21queue.",
        &name,
        "room=spectator&text=I+have+not+searched+yet.",
        "room=player&text=I+tell+that+only+to+spectators.",
    ];
    assert_eq!(said, expected);
    let eval = Eval { score: EvalScore::Centipawns(31), depth: 9 };
    seat.thinks(turn, "e2e4", false, Some(eval)).await;
    server.hear_move().await.1.ok();
    game.line(&state("e2e4", ""));
    let told = answer(&mut server, &game, &line("spectator", "Eve", "!eval"), "depth").await;
    assert_eq!(told, "room=spectator&text=%2B0.31+at+depth+9");
    for (id, name) in [("11112222", "Ann"), ("33334444", "Bob")] {
        let who = format!(r#"{{"id":"{}","name":"{name}"}}"#, name.to_lowercase());
        table.events.line(&challenge(id, CLOCK).replace(r#"{"id":"them","name":"Them"}"#, &who));
    }
    let told = answer(&mut server, &game, &line("player", "Them", "!queue"), "Bob").await;
    assert_eq!(told, "room=player&text=Next%3A+Ann%2C+Bob");
    let told = answer(&mut server, &game, &line("spectator", "Eve", "!queue"), "Next").await;
    assert_eq!(told, "room=spectator&text=Next%3A+Ann%2C+Bob");
}

#[tokio::test(start_paused = true)]
async fn who_was_told_to_say_less_speaks_again_later() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "chat = { hello = 'Hi', max_answers = 1000 }").await;
    let (game, mut seat) = table.game(&mut server, &full(true, "")).await;
    seat.asked().await;
    let post = server.post().await;
    says(&post, "room=player&text=Hi");
    post.answer(429, r#"{"error":"Too many requests. Try again later."}"#);
    let told = answer(&mut server, &game, &line("player", "Them", "!name"), "Zeitnot").await;
    assert!(told.starts_with("room=player&text=Zeitnot"), "{told}");
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

#[tokio::test(start_paused = true)]
async fn moves_go_out_while_the_chat_hangs() {
    moves_go_out(None).await;
}

#[tokio::test(start_paused = true)]
async fn moves_go_out_while_the_chat_is_refused() {
    moves_go_out(Some(400)).await;
}

#[tokio::test(start_paused = true)]
async fn moves_go_out_while_the_chat_is_limited() {
    moves_go_out(Some(429)).await;
}

//! Chat in games on Lichess: greetings, answers to commands, and moves that never wait for it.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use zeitnot_seat::{Eval, EvalScore};
use zeitnot_testing::LONG;

use crate::support::{
    lichess_client::{CLOCK, ID, PATIENT, THEM, challenge, finish_seated, full, over, seated, state},
    lichess_server::{Feed, Post, QUIET, Server},
};

const CHAT: &str =
    "games = 1\nchat = { hello = 'Hi {opponent}, {engine} here', goodbye = 'Bye', max_answers = 2 }";

impl Server {
    /// Expects that this is said.
    async fn hear_chat(&mut self, form: &str) -> Post {
        self.hear_form(&format!("/api/bot/game/{ID}/chat"), form).await
    }
}

const COMMANDS: &str = "concurrency = 1\nchat = { max_answers = 1000 }\nchallenge.bot.accept = false\n\
    challenge.human = { variants = ['standard'], time_controls = ['bullet'] }";

fn line(room: &str, user: &str, text: &str) -> String {
    format!(r#"{{"type":"chatLine","room":"{room}","username":"{user}","text":"{text}"}}"#)
}

#[test(start_paused = true)]
async fn the_chat_greets_answers_so_often_and_says_farewell() {
    let (mut server, client, game, mut seat) = seated(CHAT, &full(true, "")).await;
    seat.asked().await;
    server.hear_chat("room=player&text=Hi+Them%2C+test+here").await.ok();
    game.line(&line("spectator", "Eve", "hello"));
    game.line(&line("spectator", "Zeitnot", "!queue"));
    for _ in 0..3 {
        game.line(&line("spectator", "Eve", "!queue"));
    }
    for _ in 0..2 {
        server.hear_chat("room=spectator&text=Nobody+is+waiting.").await.ok();
    }
    server.hears_nothing().await;
    game.line(&over(""));
    seat.ended().await;
    server.hear_chat("room=player&text=Bye").await.ok();
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_game_taken_up_again_gets_no_greeting() {
    let (mut server, _client, _game, mut seat) = seated(CHAT, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4 e7e5").await;
    seat.asked().await;
    server.hears_nothing().await;
}

/// Repeats a line until it gets the wanted answer, which it returns.
async fn answer(server: &mut Server, game: &Feed, line: &str, wanted: &str) -> String {
    let patience = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < patience, "{line} is not answered with {wanted}");
        game.line(line);
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

#[test(start_paused = true)]
async fn each_command_is_answered_in_its_room() {
    let (mut server, _client, game, mut seat) = seated(COMMANDS, &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    let name = format!("Zeitnot+running+test+%28Zeitnot+{}%29", env!("CARGO_PKG_VERSION"));
    let queue = "%21queue%2C";
    let others = "%21challenge%2C+%21variants";
    let help = format!("Commands%3A+%21help%2C+%21name%2C+{queue}+%21wait%2C+{others}");
    let help_spectators = format!("Commands%3A+%21help%2C+%21name%2C+%21eval%2C+{queue}+{others}");
    let bots = "no+challenges+from+bots.";
    for (room, text, answer) in [
        ("player", "!help", help.as_str()),
        ("spectator", "!help", &help_spectators),
        ("spectator", "!variants", &format!("I+accept+standard+from+humans%3B+{bots}")),
        ("player", "!challenge", &format!("I+accept+bullet+%28casual%2C+rated%29+from+humans%3B+{bots}")),
        ("spectator", "!name", &name),
        ("spectator", "!eval", "No+evaluation+yet."),
        ("player", "!eval", "Only+spectators+can+ask+for+that."),
    ] {
        game.line(&line(room, "Eve", text));
        server.hear_chat(&format!("room={room}&text={answer}")).await.ok();
    }
    let eval = Eval { score: EvalScore::Centipawns(31), depth: 9 };
    seat.act(turn, "e2e4", false, Some(eval)).await;
    server.take_move().await;
    game.line(&state("e2e4", ""));
    let told = answer(&mut server, &game, &line("spectator", "Eve", "!eval"), "depth").await;
    assert_eq!(told, "room=spectator&text=Evaluation%3A+%2B0.31+%28depth+9%29");
    for (id, name) in [("11112222", "Ann"), ("33334444", "Bob")] {
        let who = format!(r#"{{"id":"{}","name":"{name}"}}"#, name.to_lowercase());
        server.tell(&challenge(id, CLOCK).replace(THEM, &who));
    }
    let told = answer(&mut server, &game, &line("player", "Them", "!queue"), "Bob").await;
    assert_eq!(told, "room=player&text=Waiting%3A+Ann%2C+Bob");
    let told = answer(&mut server, &game, &line("spectator", "Eve", "!queue"), "Waiting").await;
    assert_eq!(told, "room=spectator&text=Waiting%3A+Ann%2C+Bob");
}

#[test(start_paused = true)]
async fn a_crowd_of_spectators_leaves_the_opponent_an_answer() {
    let settings = "chat = { commands = ['name'], max_answers_in_total = 20 }";
    let (mut server, _client, game, mut seat) = seated(settings, &full(true, "")).await;
    seat.asked().await;
    let name = format!("Zeitnot+running+test+%28Zeitnot+{}%29", env!("CARGO_PKG_VERSION"));
    for number in 0..300 {
        game.line(&line("spectator", &format!("u{number}"), "!name"));
        if number < 20 {
            server.hear_chat(&format!("room=spectator&text={name}")).await.ok();
        }
    }
    server.hears_nothing().await;
    game.line(&line("player", "Them", "!name"));
    server.hear_chat(&format!("room=player&text={name}")).await.ok();
}

#[test(start_paused = true)]
async fn an_opponent_who_asks_for_it_has_more_time_for_the_first_move() {
    let settings = format!("games = 1\nchat = {{ wait_time = '10s' }}\n{PATIENT}");
    let (mut server, client, game, mut seat) = seated(&settings, &full(true, "")).await;
    let (turn, _) = seat.asked().await;
    for (room, user, answer) in [
        ("spectator", "Eve", "Only+my+opponent+can+ask+for+that."),
        ("player", "Them", "I+will+wait+10+s+for+your+first+move."),
        ("player", "Them", "I+wait+only+for+your+first+move%2C+and+only+once."),
    ] {
        game.line(&line(room, user, "!wait"));
        server.hear_chat(&format!("room={room}&text={answer}")).await.ok();
    }
    seat.play(turn, "e2e4").await;
    server.take_move().await;
    game.line(&state("e2e4", r#","expiration":{"idleMillis":0,"millisToMove":300}"#));
    let moved = Instant::now();
    server.hear_game("abort").await.ok();
    assert!(moved.elapsed() >= Duration::from_secs(9), "{:?}", moved.elapsed());
    game.line(&over("e2e4"));
    client.ends().await;
}

#[test(start_paused = true)]
async fn the_chat_goes_on_after_a_rate_limit() {
    let (mut server, _client, game, mut seat) =
        seated("chat = { hello = 'Hi', max_answers = 1000 }", &full(true, "")).await;
    seat.asked().await;
    server
        .hear_chat("room=player&text=Hi")
        .await
        .answer(429, r#"{"error":"Too many requests. Try again later."}"#);
    let told = answer(&mut server, &game, &line("player", "Them", "!name"), "Zeitnot").await;
    assert!(told.starts_with("room=player&text=Zeitnot"), "{told}");
}

#[test(start_paused = true)]
async fn moves_go_out_while_the_chat_hangs_or_is_refused_and_a_thousand_talk() {
    for answer in [None, Some(400), Some(429)] {
        moves_go_out(answer).await;
    }
}

async fn moves_go_out(answer: Option<u16>) {
    let (mut server, client, game, mut seat) = seated(CHAT, &full(true, "")).await;
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
    let mut moves = String::new();
    let ours = ["e2e4", "g1f3", "f1c4"];
    for (mv, reply) in ours.into_iter().zip(["e7e5", "b8c6", "g8f6"]) {
        seat.play(turn, mv).await;
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
        seat.sees(&format!("{mv} {reply}")).await;
        (turn, _) = seat.asked().await;
    }
    finish_seated(client, game, seat, &moves).await;
}

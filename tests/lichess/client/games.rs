//! The Lichess client against a server that speaks from a script: games from challenge to end, over streams that
//! break and requests that fail, and what it never does twice.

use std::process::Stdio;

use tokio::{io::AsyncWriteExt, process::Command};
use zeitnot_engine::Kind;
use zeitnot_rules::{Game, chess::Chess};

use crate::support::{
    command::zeitnot,
    lichess_client::{CLOCK, Client, ID, challenge, full, game_event, over, state},
    lichess_server::{Feed, Post, QUIET, Server},
    wait::soon,
};

fn board(moves: &str) -> Chess {
    let mut board = Chess::start();
    for text in moves.split_whitespace() {
        board.play(board.read(text).unwrap());
    }
    board
}

/// The line with a legal move more; any will do.
fn replied(moves: &str) -> String {
    let board = board(moves);
    format!("{moves} {}", board.write(board.moves()[0]))
}

/// The line with our move, which is legal there.
async fn our_move(server: &mut Server, moves: &str) -> (String, Post) {
    let (mv, post) = server.hear_move().await;
    assert!(board(moves).read(&mv).is_ok(), "{mv} after {moves}");
    (format!("{moves} {mv}").trim().to_owned(), post)
}

/// A client in a game, with White to begin.
async fn in_game(settings: &str) -> (Server, Client, Feed, Feed) {
    let mut server = Server::start().await;
    let client = Client::start(&server, settings);
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    game.line(&full(true, ""));
    (server, client, events, game)
}

#[tokio::test]
async fn a_game_from_challenge_to_mate() {
    let mut server = Server::start().await;
    let client = Client::with(&server, Kind::Search, "games = 1");
    let events = server.events().await;
    events.line(&challenge(ID, CLOCK));
    // The same once more, as a stream does that was opened anew.
    events.line(&challenge(ID, CLOCK));
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/challenge/{ID}/accept"));
    let headers = post.head.to_ascii_lowercase();
    assert!(headers.contains("authorization: bearer lip_hush\r\n"), "{headers}");
    assert!(headers.contains("user-agent: zeitnot/") && headers.contains("(user: zeitnot)"), "{headers}");
    post.ok();
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    let line = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6";
    game.line(&full(true, line));
    let (mv, post) = server.hear_move().await;
    assert_eq!((post.path.as_str(), mv.as_str()), (format!("/api/bot/game/{ID}/move/h5f7").as_str(), "h5f7"));
    post.ok();
    game.line(&state(&format!("{line} {mv}"), r#","winner":"white""#).replace("started", "mate"));
    drop(game);
    events.line(&game_event("gameFinish"));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_begins_twice_is_played_once() {
    let (mut server, client, events, game) = in_game("games = 1").await;
    let playing = game_event("gameStart").replace(r#""type":"gameStart","game":"#, "");
    server.answer(
        "/api/account/playing",
        200,
        &format!(r#"{{"nowPlaying":[{}]}}"#, &playing[1..playing.len() - 1]),
    );
    events.line(&game_event("gameStart"));
    drop(events);
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    game.line(&state(&line, ""));
    // Told once more, and with more time: no reason to move.
    game.line(&state(&line, ""));
    server.hears_nothing().await;
    assert!(server.games.try_recv().is_err(), "a second stream of one game");
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_closes_after_each_move_is_opened_again() {
    let (mut server, client, _events, mut game) = in_game("games = 1").await;
    let mut line = String::new();
    for _ in 0..5 {
        let (ours, post) = our_move(&mut server, &line).await;
        post.ok();
        drop(game);
        game = server.game().await;
        line = replied(&ours);
        game.line(&full(true, &line));
    }
    let (ours, post) = our_move(&mut server, &line).await;
    post.ok();
    game.line(&over(&ours));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_falls_silent_is_opened_again() {
    let (mut server, client, events, game) = in_game("games = 1").await;
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    game.line(&state(&line, ""));
    game.falls_silent();
    events.falls_silent();
    let again = server.game().await;
    let _events = server.events().await;
    let line = replied(&line);
    again.line(&full(true, &line));
    let (line, post) = our_move(&mut server, &line).await;
    post.ok();
    again.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_message_is_passed_over() {
    let (mut server, client, events, game) = in_game("games = 1").await;
    for odd in
        ["<html>", "{}", "null", r#"{"type":"brandNew"}"#, r#"{"type":"gameState"}"#, r#"{"error":"x"}"#]
    {
        game.line(odd);
        events.line(odd);
    }
    game.bytes(b"\xff\xfe\n");
    game.bytes("x".repeat(100_000).as_bytes());
    game.bytes(b"\n");
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    // In two halves, and the beginning of a third that is never told.
    let line = replied(&line);
    let text = format!("{}\n", state(&line, ""));
    let (first, second) = text.split_at(text.len() / 2);
    game.bytes(first.as_bytes());
    server.hears_nothing().await;
    game.bytes(second.as_bytes());
    let (line, post) = our_move(&mut server, &line).await;
    post.ok();
    game.bytes(first.as_bytes());
    drop(game);
    let game = server.game().await;
    game.line(&full(true, &line).replace("started", "draw"));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_that_fails_every_second_time_arrives() {
    let (mut server, client, _events, game) = in_game("games = 1").await;
    let mut line = String::new();
    for (status, body) in [(503, "<html>"), (502, ""), (500, "{}"), (429, r#"{"error":"Too many requests"}"#)]
    {
        let (first, post) = our_move(&mut server, &line).await;
        post.answer(status, body);
        let (again, post) = our_move(&mut server, &line).await;
        assert_eq!(first, again);
        post.ok();
        game.line(&state(&first, ""));
        line = replied(&first);
        game.line(&state(&line, ""));
    }
    our_move(&mut server, &line).await.1.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_played_although_nobody_said_so_is_not_sent_again() {
    let (mut server, client, _events, _game) = in_game("games = 1").await;
    let (line, post) = our_move(&mut server, "").await;
    post.breaks();
    let (again, post) = our_move(&mut server, "").await;
    assert_eq!(line, again);
    post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
    let game = server.game().await;
    game.line(&full(true, &line));
    server.hears_nothing().await;
    let line = replied(&line);
    game.line(&state(&line, ""));
    our_move(&mut server, &line).await.1.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn the_stream_knows_what_no_answer_told() {
    let (mut server, client, _events, game) = in_game("games = 1").await;
    let (line, post) = our_move(&mut server, "").await;
    let line = replied(&line);
    game.line(&state(&line, ""));
    let (line, next) = our_move(&mut server, &line).await;
    post.breaks();
    server.hears_nothing().await;
    next.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_that_is_refused_is_followed_by_another() {
    let (mut server, client, _events, _game) = in_game("games = 1").await;
    let (first, post) = our_move(&mut server, "").await;
    post.answer(400, r#"{"error":"Invalid UCI"}"#);
    let game = server.game().await;
    game.line(&full(true, ""));
    let (second, post) = our_move(&mut server, "").await;
    assert_ne!(first, second);
    post.ok();
    game.line(&over(&second));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_that_is_taken_back_is_played_anew() {
    let (mut server, client, _events, game) = in_game("games = 1").await;
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    game.line(&state(&line, ""));
    let (line, post) = our_move(&mut server, &{
        let line = replied(&line);
        game.line(&state(&line, ""));
        line
    })
    .await;
    post.ok();
    game.line(&state(&line, ""));
    // Back to the beginning: ours to move, where we have moved before.
    game.line(&state("", ""));
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_running_game_is_taken_up_with_all_its_moves() {
    let mut server = Server::start().await;
    let mut line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 g8f6".to_owned();
    for _ in 0..12 {
        line = replied(&line);
    }
    server.answer(
        "/api/account/playing",
        200,
        &format!(r#"{{"nowPlaying":[{{"gameId":"{ID}","color":"white"}}]}}"#),
    );
    let client = Client::start(&server, "games = 1");
    let _events = server.events().await;
    let game = server.game().await;
    game.line(&full(true, &line));
    let (line, post) = our_move(&mut server, &line).await;
    post.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_not_accepted_ends_it_with_one_line() {
    let server = Server::start().await;
    server.answer("/api/account", 401, r#"{"error":"No such token"}"#);
    let client = Client::start(&server, "");
    let told = soon("it ends", client.run).await.unwrap().unwrap_err().to_string();
    assert!(told.contains("the token is not accepted") && told.contains("bot:play"), "{told}");
    assert!(!told.contains('\n') && !told.contains("hush"), "{told}");

    server.answer("/api/account", 200, r#"{"id":"zeitnot","username":"Zeitnot"}"#);
    let client = Client::start(&server, "");
    let told = soon("it ends", client.run).await.unwrap().unwrap_err().to_string();
    assert!(told.contains("no bot account") && told.contains("zeitnot lichess upgrade"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn told_to_leave_it_finishes_its_game_and_takes_no_other() {
    let (mut server, client, events, game) = in_game("").await;
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    client.shutdown.soon.cancel();
    tokio::time::sleep(QUIET).await;
    events.line(&challenge("abcdefgh", CLOCK));
    let post = server.post().await;
    assert_eq!((post.path.as_str(), post.body.as_str()), ("/api/challenge/abcdefgh/decline", "reason=later"));
    post.ok();
    let line = replied(&line);
    game.line(&state(&line, ""));
    our_move(&mut server, &line).await.1.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn told_to_leave_at_once_it_does() {
    let (mut server, client, _events, _game) = in_game("").await;
    let (_, unanswered) = our_move(&mut server, "").await;
    client.shutdown.now.cancel();
    client.ends().await;
    drop(unanswered);
}

/// No move pays for a handshake.
#[tokio::test(start_paused = true)]
async fn moves_share_a_connection() {
    let (mut server, client, _events, game) = in_game("games = 1").await;
    let (mut line, mut connections) = (String::new(), None);
    for _ in 0..10 {
        let (ours, post) = our_move(&mut server, &line).await;
        let now = server.connections();
        assert_eq!(*connections.get_or_insert(now), now);
        post.ok();
        if board(&ours).moves().is_empty() {
            // Against any move at all there may be a mate before.
            game.line(&over(&ours));
            return client.ends().await;
        }
        // The next move is asked for when the answer to this one has been read.
        tokio::time::sleep(QUIET / 10).await;
        line = replied(&ours);
        game.line(&state(&line, ""));
    }
    our_move(&mut server, &line).await.1.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_without_a_clock_is_played_as_well() {
    let mut server = Server::start().await;
    let client = Client::start(&server, "games = 1");
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let game = server.game().await;
    let clock = r#""clock":{"initial":60000,"increment":0}"#;
    game.line(&full(false, "e2e4").replace(clock, r#""daysPerTurn":3"#));
    let (line, post) = our_move(&mut server, "e2e4").await;
    post.ok();
    game.line(&over(&line));
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn challenges_that_are_not_for_us_are_declined() {
    let (mut server, client, events, game) = in_game("concurrency = 1\nchallenge = { max_queue = 0 }").await;
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    let days = r#"{"type":"correspondence","daysPerTurn":3}"#;
    for (time, reason) in [(CLOCK, "later"), (days, "tooSlow")] {
        events.line(&challenge("abcdefgh", time));
        let post = server.post().await;
        assert_eq!(post.body, format!("reason={reason}"));
        post.ok();
    }
    // A place is free again when its game is over, and when an accepted challenge is gone.
    game.line(&over(&line));
    tokio::time::sleep(QUIET).await;
    for id in ["abcdefgh", "ABCDEFGH"] {
        events.line(&challenge(id, CLOCK));
        let post = server.post().await;
        assert_eq!(post.path, format!("/api/challenge/{id}/accept"));
        post.answer(404, r#"{"error":"Not found"}"#);
        tokio::time::sleep(QUIET).await;
    }
    client.shutdown.now.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn who_does_not_come_is_not_waited_for_and_who_leaves_has_lost() {
    let (mut server, client, _events, game) = in_game("games = 1").await;
    let (line, post) = our_move(&mut server, "").await;
    post.ok();
    game.line(&state(&line, r#","expiration":{"idleMillis":0,"millisToMove":300}"#));
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/bot/game/{ID}/abort"));
    post.answer(400, r#"{"error":"This game can no longer be aborted"}"#);
    server.hears_nothing().await;
    game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":18446744073709551615}"#);
    game.line(r#"{"type":"opponentGone","gone":false}"#);
    server.hears_nothing().await;
    game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":0}"#);
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/bot/game/{ID}/claim-victory"));
    // By the server's clock it was too early: it is claimed again, until the server agrees.
    post.answer(400, r#"{"error":"Cannot claim victory"}"#);
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/bot/game/{ID}/claim-victory"));
    post.ok();
    game.line(&over(&line));
    client.ends().await;
}

/// Success and output of `zeitnot lichess …`.
async fn command(server: &Server, args: &[&str], input: &str) -> (bool, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let table = format!("[[server]]\nprotocol = 'lichess'\nurl = '{}'\ntoken = 'lip_hush'\n", server.url);
    std::fs::write(&file, table).unwrap();
    let mut child = Command::from(zeitnot(&["lichess"]))
        .args(args)
        .arg("--config")
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
    let output = soon("it ends", child.wait_with_output()).await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn an_account_is_looked_at_and_made_a_bot() {
    let mut server = Server::start().await;
    let scopes = r#"{"lip_hush":{"userId":"zeitnot","scopes":"bot:play,team:read","expires":null}}"#;
    server.answer("/api/token/test", 200, scopes);
    let (content, told) = command(&server, &["check"], "").await;
    assert!(content && told.contains("title: BOT") && told.contains("bot:play, team:read"), "{told}");
    assert!(told.contains("from bots: standard, chess960, ") && told.contains("casual, rated"), "{told}");
    assert!(!told.contains("hush"), "{told}");

    server.answer("/api/account", 200, r#"{"id":"zeitnot","username":"Zeitnot"}"#);
    let (content, told) = command(&server, &["check"], "").await;
    assert!(!content && told.contains("zeitnot lichess upgrade"), "{told}");
    let (content, told) = command(&server, &["upgrade"], "no\n").await;
    assert!(content && told.contains("Nothing was changed"), "{told}");
    server.hears_nothing().await;
    server.answer("/api/bot/account/upgrade", 200, r#"{"ok":true}"#);
    let (content, told) = command(&server, &["upgrade"], "Zeitnot\n").await;
    assert!(content && told.contains("is a bot now"), "{told}");

    server.answer("/api/tournament/ABCDEFGH/join", 200, r#"{"ok":true}"#);
    let (content, told) = command(&server, &["join", "ABCDEFGH", "--team", "the-bots"], "").await;
    assert!(content && told == "Entered tournament ABCDEFGH.\n", "{told}");
    server.answer("/api/tournament/ABCDEFGH/withdraw", 403, r#"{"error":"Missing scope"}"#);
    let (content, told) = command(&server, &["leave", "ABCDEFGH"], "").await;
    assert!(!content && told.contains("Missing scope (403)"), "{told}");

    server.answer("/api/account", 401, r#"{"error":"No such token"}"#);
    let (content, told) = command(&server, &["check"], "").await;
    assert!(!content && told.contains("the token is not accepted") && told.lines().count() == 1, "{told}");
}

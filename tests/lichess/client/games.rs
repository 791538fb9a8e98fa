//! The Lichess client against a server that speaks from a script: games from challenge to end, over streams that
//! break and requests that fail, and what it never does twice.

use std::time::{Duration, Instant};

use zeitnot_engine::{Fault, Kind};

use crate::support::{
    command::run,
    lichess_client::{
        CLOCK, ID, challenge, finish, full, game_event, in_game, over, replied, start, start_with, state,
    },
    lichess_server::{QUIET, Server},
    log::Log,
};

#[test]
async fn a_game_from_challenge_to_mate() {
    let mut server = Server::start().await;
    let client = start_with(&server.url, "lip_hush", Kind::Search, "games = 1");
    server.online().await;
    server.tell(&challenge(ID, CLOCK));
    // Streams that are opened again repeat it.
    server.tell(&challenge(ID, CLOCK));
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/challenge/{ID}/accept"));
    let headers = post.head.to_ascii_lowercase();
    assert!(headers.contains("authorization: bearer lip_hush\r\n"), "{headers}");
    assert!(headers.contains("user-agent: zeitnot/") && headers.contains("(user: zeitnot)"), "{headers}");
    post.ok();
    let line = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6";
    let game = server.begin(&full(true, line)).await;
    server.hear_game("move/h5f7").await.ok();
    game.line(&state(&format!("{line} h5f7"), r#","winner":"white""#).replace("started", "mate"));
    drop(game);
    server.tell(&game_event("gameFinish"));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_game_that_begins_twice_is_played_once() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let playing = game_event("gameStart").replace(r#""type":"gameStart","game":"#, "");
    server.lists([playing[1..playing.len() - 1].to_owned()]);
    server.tell(&game_event("gameStart"));
    server.feed = None;
    server.online().await;
    server.tell(&game_event("gameStart"));
    let line = server.take_move_after("").await;
    game.line(&state(&line, ""));
    // A repeated state asks for no move.
    game.line(&state(&line, ""));
    server.hears_nothing().await;
    assert!(server.games.try_recv().is_err(), "a second stream of one game");
    game.line(&over(&line));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_stream_that_closes_after_each_move_is_opened_again() {
    let (mut server, client, mut game) = in_game("games = 1", &full(true, "")).await;
    let mut line = String::new();
    for _ in 0..5 {
        let ours = server.take_move_after(&line).await;
        drop(game);
        game = server.game().await;
        line = replied(&ours);
        game.line(&full(true, &line));
    }
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn a_stream_that_falls_silent_is_opened_again() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let line = server.take_move_after("").await;
    game.line(&state(&line, ""));
    game.falls_silent();
    server.feed.take().unwrap().falls_silent();
    let again = server.game().await;
    server.online().await;
    let line = replied(&line);
    again.line(&full(true, &line));
    finish(server, client, again, &line).await;
}

#[test(start_paused = true)]
async fn invalid_lines_are_skipped() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    for odd in
        ["<html>", "{}", "null", r#"{"type":"brandNew"}"#, r#"{"type":"gameState"}"#, r#"{"error":"x"}"#]
    {
        game.line(odd);
        server.tell(odd);
    }
    game.bytes(b"\xff\xfe\n");
    game.bytes("x".repeat(100_000).as_bytes());
    game.bytes(b"\n");
    let line = server.take_move_after("").await;
    // A line in two halves, then half a line before the stream's end.
    let line = replied(&line);
    let text = format!("{}\n", state(&line, ""));
    let (first, second) = text.split_at(text.len() / 2);
    game.bytes(first.as_bytes());
    server.hears_nothing().await;
    game.bytes(second.as_bytes());
    let line = server.take_move_after(&line).await;
    game.bytes(first.as_bytes());
    drop(game);
    let game = server.game().await;
    game.line(&full(true, &line).replace("started", "draw"));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_failed_move_is_sent_again() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let mut line = String::new();
    for (status, body) in [(503, "<html>"), (502, ""), (500, "{}"), (429, r#"{"error":"Too many requests"}"#)]
    {
        let (first, post) = server.hear_move_after(&line).await;
        post.answer(status, body);
        assert_eq!(server.take_move_after(&line).await, first);
        game.line(&state(&first, ""));
        line = replied(&first);
        game.line(&state(&line, ""));
    }
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn a_move_whose_answer_was_lost_is_not_played_twice() {
    let (mut server, client, _game) = in_game("games = 1", &full(true, "")).await;
    let (line, post) = server.hear_move_after("").await;
    post.breaks();
    let (again, post) = server.hear_move_after("").await;
    assert_eq!(line, again);
    post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
    let game = server.game().await;
    game.line(&full(true, &line));
    server.hears_nothing().await;
    let line = replied(&line);
    game.line(&state(&line, ""));
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn a_move_that_the_stream_confirms_is_not_sent_again() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let (line, post) = server.hear_move_after("").await;
    let line = replied(&line);
    game.line(&state(&line, ""));
    let (line, next) = server.hear_move_after(&line).await;
    post.breaks();
    next.ok();
    server.hears_nothing().await;
    game.line(&over(&line));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_move_that_is_refused_is_followed_by_another() {
    let (mut server, client, _game) = in_game("games = 1", &full(true, "")).await;
    let (first, post) = server.hear_move_after("").await;
    post.answer(400, r#"{"error":"Invalid UCI"}"#);
    let game = server.game().await;
    game.line(&full(true, ""));
    let (second, post) = server.hear_move_after("").await;
    assert_ne!(first, second);
    post.ok();
    game.line(&over(&second));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_running_game_is_taken_up_with_all_its_moves() {
    let mut server = Server::start().await;
    server.lists([format!(r#"{{"gameId":"{ID}","color":"white"}}"#)]);
    let mut line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 g8f6".to_owned();
    for _ in 0..12 {
        line = replied(&line);
    }
    let client = start(&server, "games = 1");
    server.online().await;
    let game = server.game().await;
    game.line(&full(true, &line));
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn an_account_that_cannot_play_ends_the_client_with_one_line() {
    let server = Server::start().await;
    for (status, account, expected) in [
        (401, r#"{"error":"No such token"}"#, ["the token is not accepted", "bot:play"]),
        (200, r#"{"id":"zeitnot","username":"Zeitnot"}"#, ["not a bot account", "zeitnot lichess upgrade"]),
        (
            200,
            r#"{"id":"zeitnot","username":"Zeitnot","count":{"all":3}}"#,
            ["cannot become one as it has played games", "create a new account"],
        ),
    ] {
        server.answer("/api/account", status, account);
        let told = start(&server, "").result().await.unwrap_err().to_string();
        assert!(expected.iter().all(|text| told.contains(text)), "{told}");
        assert!(!told.contains('\n') && !told.contains("hush"), "{told}");
    }
}

#[test(start_paused = true)]
async fn the_first_stop_finishes_the_game_and_declines_challenges() {
    let (mut server, client, game) = in_game("", &full(true, "")).await;
    let line = server.take_move_after("").await;
    client.shutdown.soon.cancel();
    tokio::time::sleep(QUIET).await;
    server.tell(&challenge("abcdefgh", CLOCK));
    server.hear_form("/api/challenge/abcdefgh/decline", "reason=later").await.ok();
    let line = replied(&line);
    game.line(&state(&line, ""));
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn the_second_stop_ends_the_client_at_once() {
    let (mut server, client, _game) = in_game("", &full(true, "")).await;
    let (_, unanswered) = server.hear_move_after("").await;
    client.ends_now().await;
    drop(unanswered);
}

#[test(start_paused = true)]
async fn moves_share_a_connection_and_pay_for_no_handshake() {
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let mut line = String::new();
    let mut connections = None;
    for _ in 0..4 {
        let (ours, post) = server.hear_move_after(&line).await;
        let now = server.connections();
        assert_eq!(*connections.get_or_insert(now), now);
        post.ok();
        // The next move is asked for when the answer to this one has been read.
        tokio::time::sleep(QUIET / 10).await;
        line = replied(&ours);
        game.line(&state(&line, ""));
    }
    finish(server, client, game, &line).await;
}

#[test(start_paused = true)]
async fn a_game_without_a_clock_is_played_as_well() {
    let clock = r#""clock":{"initial":60000,"increment":0}"#;
    let begin = full(false, "e2e4").replace(clock, r#""daysPerTurn":3"#);
    let (server, client, game) = in_game("games = 1", &begin).await;
    finish(server, client, game, "e2e4").await;
}

#[test(start_paused = true)]
async fn challenges_without_a_free_place_or_a_suitable_clock_are_declined() {
    let (mut server, client, game) =
        in_game("concurrency = 1\nchallenge = { max_queue = 0 }", &full(true, "")).await;
    let line = server.take_move_after("").await;
    let days = r#"{"type":"correspondence","daysPerTurn":3}"#;
    for (time, reason) in [(CLOCK, "later"), (days, "tooSlow")] {
        server.tell(&challenge("abcdefgh", time));
        server.hear_form("/api/challenge/abcdefgh/decline", &format!("reason={reason}")).await.ok();
    }
    // A place is free again when its game is over, and when an accepted challenge is gone.
    game.line(&over(&line));
    tokio::time::sleep(QUIET).await;
    for id in ["abcdefgh", "ABCDEFGH"] {
        server.tell(&challenge(id, CLOCK));
        server.hear_challenge(id, "accept").await.answer(404, r#"{"error":"Not found"}"#);
        tokio::time::sleep(QUIET).await;
    }
    client.ends_now().await;
}

#[test(start_paused = true)]
async fn an_absent_opponent_leads_to_an_abort_or_a_claimed_victory() {
    let log = Log::capture();
    let (mut server, client, game) = in_game("games = 1", &full(true, "")).await;
    let line = server.take_move_after("").await;
    game.line(&state(&line, r#","expiration":{"idleMillis":0,"millisToMove":300}"#));
    server.hear_game("abort").await.answer(400, r#"{"error":"This game can no longer be aborted"}"#);
    server.hears_nothing().await;
    game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":18446744073709551615}"#);
    game.line(r#"{"type":"opponentGone","gone":false}"#);
    server.hears_nothing().await;
    game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":0}"#);
    let post = server.post().await;
    assert_eq!(post.path, format!("/api/bot/game/{ID}/claim-victory"));
    // Too early by the server's clock: it is claimed again until the server agrees.
    post.answer(400, r#"{"error":"Cannot claim victory"}"#);
    server.hear_game("claim-victory").await.ok();
    game.line(&over(&line));
    client.ends().await;
    for told in [
        "asking the server to abort the game",
        "cannot abort the game: This game can no longer be aborted",
        "asking the server to claim victory",
        "cannot claim victory: Cannot claim victory",
    ] {
        assert!(log.count(told) > 0, "{told}: {}", log.text());
    }
}

/// Success and output of `zeitnot lichess …`.
async fn command(server: &Server, args: &[&str], input: &str) -> (bool, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let table = format!("[[server]]\nprotocol = 'lichess'\nurl = '{}'\ntoken = 'lip_hush'\n", server.url);
    std::fs::write(&file, table).unwrap();
    let (code, text) = run(&[&["lichess"], args].concat(), &file, input).await;
    (code == Some(0), text)
}

#[test]
async fn subcommands_check_and_upgrade_an_account_and_join_tournaments() {
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
    assert!(server.posts.try_recv().is_err());
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

#[test]
async fn a_clock_that_the_server_lowers_while_we_think_is_followed() {
    let mut server = Server::start().await;
    let client = start_with(&server.url, "lip_hush", Kind::Faulty(Fault::Silent), "games = 1");
    server.online().await;
    let line = "e2e4 e7e5";
    let long = |text: String| text.replace(r#""wtime":2000"#, r#""wtime":240000"#);
    let game = server.begin(&long(full(true, line))).await;
    let began = Instant::now();
    // The same moves, as after a draw offer: our clock runs on, and then it is lowered.
    game.line(&long(state(line, "")));
    game.line(&state(line, ""));
    server.take_move_after(line).await;
    // Half a minute by the first clock, a quarter of a second by the last.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    game.line(&over(line));
    client.ends().await;
}

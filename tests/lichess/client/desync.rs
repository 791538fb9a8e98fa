//! Games on Lichess whose moves do not fit our rules: their streams are opened again, and where that does not help,
//! they alone are given up, with one line to the user.

use tokio::time::sleep;
use zeitnot_measure::scripted_lichess;
use zeitnot_testing::{LONG, until};

use crate::support::{
    lichess_client::{CLOCK, ID, challenge, finish_seated, full, of_game, over, seated, state},
    lichess_server::Server,
    program::Program,
};

const OTHER: &str = "abcdefgh";

#[test(start_paused = true)]
async fn a_game_is_followed_while_it_waits_for_another_player() {
    let (mut server, mut client, game, mut seat) = seated("games = 1", &full(false, "")).await;
    drop(seat);
    client.decline().await;
    game.line(&state("e2e4", ""));
    seat = client.game().await;
    seat.sees("e2e4").await;
    seat.answer("e7e5").await;
    let line = server.take_move_after("e2e4").await;
    // The last player goes, and the game ends before there is another one.
    drop(seat);
    client.decline().await;
    game.line(&over(&line));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_garbled_line_costs_one_new_stream() {
    let (mut server, client, game, mut seat) = seated("games = 1", &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4 e7e5").await;
    let (before, _) = seat.asked().await;
    game.line(&state("e2e4 e7e5 e1e5 e8e5", ""));
    let game = server.game().await;
    // The board that this was thought about may not be the server's.
    seat.play(before, "g1f3").await;
    server.hears_nothing().await;
    game.line(&full(true, "e2e4 e7e5"));
    let (turn, _) = seat.asked().await;
    assert_ne!(turn, before);
    seat.play(turn, "b1c3").await;
    assert_eq!(server.take_move().await, "b1c3");
    // Once more, much later.
    game.line(&state("e2e4 e7e5 b1c3 b8c6", ""));
    seat.sees("b1c3 b8c6").await;
    seat.asked().await;
    game.line(&state("e2e4 e7e5 b1c3 b8c6 nonsense", ""));
    let game = server.game().await;
    game.line(&full(true, "e2e4 e7e5 b1c3 b8c6"));
    seat.asked().await;
    finish_seated(client, game, seat, "e2e4 e7e5 b1c3 b8c6").await;
}

#[test(start_paused = true)]
async fn a_game_that_fits_on_the_second_stream_is_played() {
    let (mut server, _client, _first, mut seat) = seated("games = 1", &full(true, "e2e4 e7e4")).await;
    server.game().await.line(&full(true, "e2e4 e7e5"));
    seat.sees("e2e4 e7e5").await;
    seat.asked().await;
}

/// With the program itself, for the line that its user reads.
#[test]
async fn one_game_is_resigned_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start().await;
    let settings = "concurrency = 2\n[server.timeouts]\nreconnect = { min_delay = '20ms', max_delay = '30s', stable_after = '10s' }\nreply = '10s'";
    let program = Program::start(folder.path(), &server.url, "lip_hush", settings);
    server.online().await;
    let lost = server.begin(&full(false, "e2e4 e7e5 g1f3")).await;
    let ours = server.take_move().await;
    let other = server.begin_as(OTHER, &full(true, "d2d4 d7d5")).await;
    let mv = server.take_move().await;
    // There are two places, and both are taken.
    server.tell(&challenge("12345678", CLOCK));
    let odd = format!("e2e4 e7e5 g1f3 {ours} f3f9");
    lost.line(&state(&odd, ""));
    server.game().await.line(&full(false, &odd));
    let resigned = server.hear_game("resign").await;
    // The other game goes on meanwhile.
    other.line(&of_game(OTHER, &state(&format!("d2d4 d7d5 {mv} g8f6"), "")));
    let (_, post) = server.hear_move().await;
    assert!(post.path.contains(OTHER), "{}", post.path);
    post.ok();
    resigned.ok();
    server.hear_challenge("12345678", "accept").await.ok();
    let warnings = || program.warnings().into_iter().filter(|line| line.contains("fit")).collect::<Vec<_>>();
    until("a warning", async || !warnings().is_empty()).await;
    let [warning] = &warnings()[..] else { panic!("{:#?}", warnings()) };
    let words = "resigned, as the game cannot be continued: its moves do not fit our rules: 'f3f9' is not a legal move here";
    assert!(warning.contains(words), "{warning}");
    program.kill().await;
}

#[test(start_paused = true)]
async fn a_game_that_has_hardly_begun_is_aborted_or_else_resigned() {
    for refused in [false, true] {
        let (mut server, client, _first, mut seat) = seated("games = 1", &full(false, "e2e5")).await;
        let again = server.game().await;
        again.line(&full(false, "e2e5"));
        let post = server.hear_game("abort").await;
        if refused {
            post.answer(400, r#"{"error":"It is too late"}"#);
            server.hear_game("resign").await.ok();
        } else {
            post.ok();
        }
        assert_eq!(seat.ended().await, "its moves do not fit our rules: 'e2e5' is not a legal move here");
        client.ends().await;
    }
}

#[test(start_paused = true)]
async fn a_game_that_never_fits_is_resigned_after_a_few_streams() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        format!("games = 1\npgn_directory = '{}'\npgn_file_grouping = 'all'", folder.path().display());
    let (mut server, client, mut game, mut seat) = seated(&settings, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4 e7e5").await;
    let mut looks = 0;
    let post = loop {
        seat.asked().await;
        game.line(&state("e2e4 e7e5 e4e5", ""));
        let streams: &mut scripted_lichess::Server = &mut server;
        game = tokio::select! {
            game = streams.games.recv() => game.unwrap(),
            post = streams.posts.recv() => break post.unwrap(),
            () = sleep(LONG) => panic!("neither a look nor an end"),
        };
        looks += 1;
        game.line(&full(true, "e2e4 e7e5"));
    };
    assert!((1..10).contains(&looks), "{looks}");
    assert_eq!(post.path, format!("/api/bot/game/{ID}/resign"));
    post.ok();
    seat.ended().await;
    client.ends().await;
    let text = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert!(
        text.contains("[Result \"0-1\"]") && text.contains("1. e4 e5 {") && text.ends_with(" 0-1\n\n"),
        "{text}"
    );
}

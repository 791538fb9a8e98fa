//! Games on Lichess whose moves do not fit our rules: looked at anew, played on where that helps, and else given up,
//! alone and with one line to the user.

use tokio::time::sleep;
use zeitnot::scripted_lichess;

use crate::support::{
    lichess_client::{CLOCK, ID, challenge, full, game_event, over, state},
    lichess_seat::Table,
    lichess_server::Server,
    program::Program,
    wait::{LONG, until},
};

const OTHER: &str = "abcdefgh";

fn of_other(text: &str) -> String {
    text.replace(ID, OTHER)
}

#[tokio::test(start_paused = true)]
async fn a_line_that_was_garbage_costs_one_look() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1").await;
    let (game, mut seat) = table.game(&mut server, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4").await;
    seat.sees("e7e5").await;
    let (before, _) = seat.asked().await;
    game.line(&state("e2e4 e7e5 e1e5 e8e5", ""));
    let game = server.game().await;
    // The board that this was thought about may not be the server's.
    seat.plays(before, "g1f3", false).await;
    server.hears_nothing().await;
    game.line(&full(true, "e2e4 e7e5"));
    let (turn, _) = seat.asked().await;
    assert_ne!(turn, before);
    seat.plays(turn, "b1c3", false).await;
    let (mv, post) = server.hear_move().await;
    assert_eq!(mv, "b1c3");
    post.ok();
    // Once more, much later.
    game.line(&state("e2e4 e7e5 b1c3 b8c6", ""));
    for mv in ["b1c3", "b8c6"] {
        seat.sees(mv).await;
    }
    seat.asked().await;
    game.line(&state("e2e4 e7e5 b1c3 b8c6 nonsense", ""));
    let game = server.game().await;
    game.line(&full(true, "e2e4 e7e5 b1c3 b8c6"));
    seat.asked().await;
    game.line(&over("e2e4 e7e5 b1c3 b8c6"));
    seat.ended().await;
    table.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_fits_at_the_second_look_is_played() {
    let mut server = Server::start().await;
    let mut table = Table::start(&mut server, "games = 1").await;
    let (_first, mut seat) = table.game(&mut server, &full(true, "e2e4 e7e4")).await;
    server.game().await.line(&full(true, "e2e4 e7e5"));
    seat.sees("e2e4").await;
    seat.sees("e7e5").await;
    seat.asked().await;
}

/// A user sees the program itself: one game cannot be played on, and everything else goes on.
#[tokio::test]
async fn one_game_is_resigned_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start().await;
    let settings = "concurrency = 2\n[server.timeouts]\nreconnect = { min_delay = '20ms', max_delay = '30s', stable_after = '10s' }\nreply = '10s'";
    let program = Program::start(folder.path(), &server.url, "lip_hush", settings);
    let events = server.events().await;
    events.line(&game_event("gameStart"));
    let lost = server.game().await;
    lost.line(&full(false, "e2e4 e7e5 g1f3"));
    let (ours, post) = server.hear_move().await;
    post.ok();
    events.line(&of_other(&game_event("gameStart")));
    let other = server.game().await;
    other.line(&of_other(&full(true, "d2d4 d7d5")));
    let (mv, post) = server.hear_move().await;
    post.ok();
    // There are two places, and both are taken.
    events.line(&challenge("12345678", CLOCK));
    server.hears_nothing().await;
    let odd = format!("e2e4 e7e5 g1f3 {ours} f3f9");
    lost.line(&state(&odd, ""));
    server.game().await.line(&full(false, &odd));
    let resigned = server.post().await;
    assert_eq!(resigned.path, format!("/api/bot/game/{ID}/resign"));
    // Nothing of that holds up the other game.
    other.line(&of_other(&state(&format!("d2d4 d7d5 {mv} g8f6"), "")));
    let (_, post) = server.hear_move().await;
    assert!(post.path.contains(OTHER), "{}", post.path);
    post.ok();
    resigned.ok();
    let accepted = server.post().await;
    assert_eq!(accepted.path, "/api/challenge/12345678/accept");
    accepted.ok();
    let warnings = || program.warnings().into_iter().filter(|line| line.contains("fit")).collect::<Vec<_>>();
    until("a warning", async || !warnings().is_empty()).await;
    let [warning] = &warnings()[..] else { panic!("{:#?}", warnings()) };
    let words = "resigned, as the game cannot be continued: its moves do not fit our rules: 'f3f9' is no legal move here";
    assert!(warning.contains(words), "{warning}");
    program.kill().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_hardly_begun_is_undone_if_the_server_lets_us() {
    for refused in [false, true] {
        let mut server = Server::start().await;
        let mut table = Table::start(&mut server, "games = 1").await;
        let (_first, mut seat) = table.game(&mut server, &full(false, "e2e5")).await;
        let again = server.game().await;
        again.line(&full(false, "e2e5"));
        let post = server.post().await;
        assert_eq!(post.path, format!("/api/bot/game/{ID}/abort"));
        if refused {
            post.answer(400, r#"{"error":"It is too late"}"#);
            let post = server.post().await;
            assert_eq!(post.path, format!("/api/bot/game/{ID}/resign"));
            post.ok();
        } else {
            post.ok();
        }
        assert_eq!(seat.ended().await, "its moves do not fit our rules: 'e2e5' is no legal move here");
        table.ends().await;
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_never_fit_do_not_make_a_circle() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start().await;
    let settings =
        format!("games = 1\npgn_directory = '{}'\npgn_file_grouping = 'all'", folder.path().display());
    let mut table = Table::start(&mut server, &settings).await;
    let (mut game, mut seat) = table.game(&mut server, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4").await;
    seat.sees("e7e5").await;
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
    table.ends().await;
    let text = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert!(
        text.contains("[Result \"0-1\"]") && text.contains("1. e4 e5 {") && text.ends_with(" 0-1\n\n"),
        "{text}"
    );
}

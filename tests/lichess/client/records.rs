//! Games on Lichess as files: with scores and clocks, from their first move; and a disk that does not work.

use zeitnot_seat::{Eval, EvalScore};

use crate::support::{
    lichess_client::{ID, full, game_event, over, seated, state},
    log::Log,
};

/// Plays a game that we come back to after two plies, and leaves. Returns the server's URL.
async fn play(settings: &str) -> String {
    let (mut server, client, game, mut seat) =
        seated(&format!("games = 1\n{settings}"), &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4 e7e5").await;
    let (turn, _) = seat.asked().await;
    let eval = Eval { score: EvalScore::Centipawns(31), depth: 9 };
    seat.act(turn, "g1f3", false, Some(eval)).await;
    server.take_move().await;
    game.line(&state("e2e4 e7e5 g1f3", ""));
    game.line(&over("e2e4 e7e5 g1f3").replace(r#""moves""#, r#""winner":"white","moves""#));
    assert_eq!(seat.ended().await, "white wins: black resigned");
    client.ends().await;
    server.url.clone()
}

#[test(start_paused = true)]
async fn a_game_is_written_down_before_we_leave() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    play(&format!("pgn_directory = '{}'\npgn_file_grouping = 'all'", games.display())).await;
    let text = std::fs::read_to_string(games.join("games.pgn")).unwrap();
    assert!(text.contains("[Result \"1-0\"]") && text.contains("1. e4 e5"), "{text}");
    let moves = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(moves.contains("2. Nf3 {[%eval 0.31,9] [%clk 0:00:02.00]} 1-0"), "{text}");
}

#[test(start_paused = true)]
async fn a_result_that_only_the_accounts_events_tell_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        format!("games = 1\npgn_directory = '{}'\npgn_file_grouping = 'all'", folder.path().display());
    let (server, client, game, mut seat) = seated(&settings, &full(true, "e2e4 e7e5")).await;
    seat.sees("e2e4 e7e5").await;
    server.tell(&game_event("gameFinish").replace(r#""status""#, r#""winner":"black","status""#));
    assert_eq!(seat.ended().await, "black wins: white resigned");
    client.ends().await;
    drop(game);
    let text = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert!(text.contains("[Result \"0-1\"]") && text.contains("[Termination \"normal\"]"), "{text}");
    assert!(text.trim_end().ends_with("0-1"), "{text}");
}

#[test(start_paused = true)]
async fn a_file_of_one_game_names_its_server_and_is_for_all_who_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let url = play(&format!("pgn_directory = '{}'", folder.path().display())).await;
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&format!("[Site \"{url}{ID}\"]")), "{text}");
    let usual = folder.path().join("usual");
    std::fs::write(&usual, "").unwrap();
    let permissions = [file, usual].map(|file| std::fs::metadata(file).unwrap().permissions());
    assert_eq!(permissions[0], permissions[1]);
}

#[test(start_paused = true)]
async fn an_unwritable_folder_is_reported_and_costs_no_game() {
    let log = Log::capture();
    let file = tempfile::NamedTempFile::new().unwrap();
    let folder = file.path().join("below").display().to_string();
    play(&format!("pgn_directory = '{folder}'")).await;
    let text = log.text();
    let errors: Vec<_> = text.lines().filter(|line| line.contains(" ERROR ")).collect();
    let [kept, lost] = errors[..] else { panic!("{text}") };
    assert!(kept.contains("cannot write the game") && kept.contains(&folder), "{kept}");
    assert!(lost.contains("games lost") && lost.contains(&folder), "{lost}");
}

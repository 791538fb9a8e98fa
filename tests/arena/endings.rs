//! All endings of a game, over sockets.

use crate::support::{
    arena::{By, TestArena, records},
    log::Log,
    web::with_page,
};

/// Plays the moves from the position. Returns the result with its reason, and the whole PGN.
async fn play(fen: Option<&str>, settings: &str, moves: &str) -> (String, String) {
    let arena = match fen {
        Some(fen) => TestArena::from_position(fen, settings).await,
        None => TestArena::start(settings).await,
    };
    let mut board = arena.game().await;
    board.play(moves).await;
    let over = board.over().await;
    let (_, folder) = arena.stop().await;
    (over, records(folder.path()))
}

#[test]
async fn games_end_by_the_rules_and_on_time() {
    for (fen, settings, moves, over, pgn_has) in [
        (
            None,
            "",
            "f2-f3 e7-e5 g2-g4 d8-h4",
            "0-1 Checkmate",
            &["2... Qh4#", "[Termination \"normal\"]", "[Result \"0-1\"]", " 0-1\n"][..],
        ),
        (None, "", "f3 e7e5 g2g4 Qh4#", "0-1 Checkmate", &[]),
        (
            Some("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"),
            "",
            "f1-f7",
            "0.5-0.5 Stalemate",
            &["[SetUp \"1\"]\n[FEN \"7k/8/6K1/8/8/8/8/5Q2 w - - 0 1\"]", "[Result \"1/2-1/2\"]"],
        ),
        (None, "", "g1-f3 g8-f6 f3-g1 f6-g8 g1-f3 g8-f6 f3-g1 f6-g8", "0.5-0.5 Threefold repetition", &[]),
        (
            Some("7k/8/6K1/8/8/8/8/R7 w - - 99 80"),
            "",
            "a1-a2",
            "0.5-0.5 Fifty moves without capture or pawn push",
            &[],
        ),
        (Some("7k/8/8/8/8/8/1p6/K7 w - - 0 1"), "", "a1-b2", "0.5-0.5 Insufficient material", &[]),
        (
            None,
            "time = '0.3+0'",
            "e2-e4",
            "1-0 Out of time",
            &["[Termination \"time forfeit\"]", "[TimeControl \"0.3+0\"]"],
        ),
    ] {
        let (told, pgn) = play(fen, settings, moves).await;
        assert_eq!(told, over);
        assert!(pgn_has.iter().all(|text| pgn.contains(text)), "{pgn}");
    }
}

#[test]
async fn a_player_can_resign_in_the_opponents_turn() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    board.black.send(&format!("RESIGN {}", board.game)).await;
    assert_eq!(board.white.expect("INFO Game over").await, "INFO Game over: 1-0 Resignation");
    assert_eq!(board.over().await, "1-0 Resignation");
    arena.stop().await;
}

#[test]
async fn a_player_who_disconnects_resigns() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("e2-e4").await;
    drop(board.black);
    let over = board.white.expect("GAME_OVER").await;
    assert_eq!(over, format!("GAME_OVER {} 1-0 Resignation by disconnect", board.game));
    let (_, folder) = arena.stop().await;
    let pgn = records(folder.path());
    assert!(pgn.contains("[Termination \"abandoned\"]") && pgn.contains("[Result \"1-0\"]"), "{pgn}");
}

#[test]
async fn a_winner_who_disconnects_at_once_has_still_won() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4").await;
    board.black.expect("YOUR_MOVE").await;
    board.black.send(&format!("MOVE {} d8-h4", board.game)).await;
    board.black.send("DISCONNECT").await;
    let over = board.white.expect("GAME_OVER").await;
    assert!(over.ends_with("0-1 Checkmate"), "{over}");
    arena.stop().await;
}

/// Bots ask every 20 s whether a tournament goes on, for as long as the arena's page stays up.
#[test]
async fn whoever_comes_back_to_a_tournament_that_is_over_fills_no_log() {
    let log = Log::capture();
    let (arena, _browser) = with_page("players = 2\ngames_per_pair = 1\n").await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    board.over().await;
    for _ in 0..3 {
        let mut back = arena.join(By::Tcp, "alice").await;
        assert_eq!(back.rest().await.pop().unwrap(), "INFO Tournament class is over");
    }
    arena.stop().await;
    assert_eq!(log.count("Tournament class is over"), 1, "{}", log.text());
}

//! All endings of a game, over sockets.

use crate::support::arena::TestArena;

/// Plays the moves from the position; the result, the reason and the whole PGN.
async fn play(fen: Option<&str>, settings: &str, moves: &str) -> (String, String) {
    let arena = match fen {
        Some(fen) => TestArena::from_position(fen, settings).await,
        None => TestArena::start(settings).await,
    };
    let mut board = arena.game().await;
    board.play(moves).await;
    let over = board.over().await;
    let (summary, _folder) = arena.stop().await;
    let pgn = std::fs::read_to_string(summary.tournaments[0].pgn.as_ref().unwrap()).unwrap();
    (over, pgn)
}

#[tokio::test]
async fn checkmate() {
    let (over, pgn) = play(None, "", "f2-f3 e7-e5 g2-g4 d8-h4").await;
    assert_eq!(over, "0-1 Checkmate");
    assert!(pgn.contains("2... Qh4#") && pgn.contains("[Termination \"normal\"]"), "{pgn}");
    assert!(pgn.contains("[Result \"0-1\"]") && pgn.trim_end().ends_with("0-1"), "{pgn}");
}

#[tokio::test]
async fn checkmate_in_other_notations() {
    let (over, _) = play(None, "", "f3 e7e5 g2g4 Qh4#").await;
    assert_eq!(over, "0-1 Checkmate");
}

#[tokio::test]
async fn stalemate() {
    let (over, pgn) = play(Some("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"), "", "f1-f7").await;
    assert_eq!(over, "0.5-0.5 Stalemate");
    assert!(pgn.contains("[SetUp \"1\"]\n[FEN \"7k/8/6K1/8/8/8/8/5Q2 w - - 0 1\"]"), "{pgn}");
    assert!(pgn.contains("[Result \"1/2-1/2\"]"), "{pgn}");
}

#[tokio::test]
async fn threefold_repetition() {
    let shuffle = "g1-f3 g8-f6 f3-g1 f6-g8 g1-f3 g8-f6 f3-g1 f6-g8";
    assert_eq!(play(None, "", shuffle).await.0, "0.5-0.5 Threefold repetition");
}

#[tokio::test]
async fn fifty_moves() {
    let (over, _) = play(Some("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), "", "a1-a2").await;
    assert_eq!(over, "0.5-0.5 Fifty moves without capture or pawn push");
}

#[tokio::test]
async fn insufficient_material() {
    let (over, _) = play(Some("7k/8/8/8/8/8/1p6/K7 w - - 0 1"), "", "a1-b2").await;
    assert_eq!(over, "0.5-0.5 Insufficient material");
}

#[tokio::test]
async fn out_of_time() {
    let (over, pgn) = play(None, "time = '0.3+0'", "e2-e4").await;
    assert_eq!(over, "1-0 Out of time");
    assert!(pgn.contains("[Termination \"time forfeit\"]"), "{pgn}");
    assert!(pgn.contains("[TimeControl \"0.3+0\"]"), "{pgn}");
}

#[tokio::test]
async fn resignation_even_if_it_is_not_ones_turn() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    board.black.send(&format!("RESIGN {}", board.game)).await;
    assert_eq!(board.white.expect("INFO Game over").await, "INFO Game over: 1-0 Resignation");
    assert_eq!(board.over().await, "1-0 Resignation");
    arena.stop().await;
}

#[tokio::test]
async fn resignation_by_disconnect() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("e2-e4").await;
    drop(board.black);
    let over = board.white.expect("GAME_OVER").await;
    assert_eq!(over, format!("GAME_OVER {} 1-0 Resignation by disconnect", board.game));
    let (summary, _folder) = arena.stop().await;
    let pgn = std::fs::read_to_string(summary.tournaments[0].pgn.as_ref().unwrap()).unwrap();
    assert!(pgn.contains("[Termination \"abandoned\"]") && pgn.contains("[Result \"1-0\"]"), "{pgn}");
}

#[tokio::test]
async fn a_winner_who_leaves_at_once_has_still_won() {
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

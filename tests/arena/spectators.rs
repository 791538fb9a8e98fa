//! Spectators and chat.

use crate::support::arena::{By, TestArena, word};

#[test]
async fn a_game_can_be_watched_without_joining() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("f2-f3").await;
    let mut watchers = Vec::new();
    for by in [By::Tcp, By::WebSocket] {
        let mut watcher = arena.connect(by).await;
        watcher.send(&format!("WATCH {}", board.game)).await;
        let state = watcher.expect("GAME_STATE").await;
        assert_eq!(word(&state, 1), board.game);
        watchers.push(watcher);
    }
    watchers[1].send(&format!("UNWATCH {}", board.game)).await;
    watchers[1].send("ACK 0123").await;
    watchers[1].expect("INFO First JOIN").await;
    board.black.expect("YOUR_MOVE").await;
    board.black.send(&format!("MOVE {} e7-e5", board.game)).await;
    board.play("g2-g4 d8-h4").await;
    assert_eq!(word(&watchers[0].expect("PLAYER_MOVED").await, 3), "e7-e5");
    assert!(watchers[0].expect("GAME_OVER").await.ends_with("0-1 Checkmate"));
    arena.stop().await;
    assert_eq!(watchers[1].rest().await, Vec::<String>::new());
}

#[test]
async fn watching_an_unknown_game_is_refused() {
    let arena = TestArena::start("").await;
    let mut watcher = arena.connect(By::Tcp).await;
    for game in ["0123", "d779c3aae51c11f186c902fc00000001"] {
        watcher.send(&format!("WATCH {game}")).await;
        assert_eq!(watcher.next().await.unwrap(), format!("INFO No game {game} is being played"));
    }
    watcher.send("UNWATCH 0123").await;
    watcher.send("JOIN class alice").await;
    watcher.expect("INFO You joined").await;
    watcher.send("SAY alice hello me").await;
    assert_eq!(watcher.next().await.unwrap(), "SAID alice hello me");
    arena.stop().await;
}

#[test]
async fn both_players_see_the_chat() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.white.send(&format!("SAY {} good luck, have fun", board.black.name)).await;
    let said = format!("SAID {} good luck, have fun", board.white.name);
    assert_eq!(board.white.expect("SAID").await, said);
    assert_eq!(board.black.expect("SAID").await, said);
    board.white.send("SAY nobody hello").await;
    board.white.expect("INFO No player nobody is here").await;
    arena.stop().await;
}

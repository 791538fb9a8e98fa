//! TCP and WebSocket at one board.

use crate::support::arena::{Board, By, TestArena, begin};

#[tokio::test]
async fn two_transports_against_each_other() {
    let arena = TestArena::start("players = 2").await;
    let (mut alice, mut bob) = (arena.join(By::Tcp, "alice").await, arena.join(By::WebSocket, "bob").await);
    for result in ["0-1 Checkmate", "0-1 Checkmate"] {
        let paired = begin(&mut alice, &mut bob).await;
        let mut board = Board::new(paired, alice, bob);
        board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
        assert_eq!(board.over().await, result);
        (alice, bob) =
            if board.white.name == "alice" { (board.white, board.black) } else { (board.black, board.white) };
    }
    let (summary, _folder) = arena.end().await;
    assert!(summary.tournaments[0].complete);
    assert_eq!(alice.rest().await.pop(), bob.rest().await.pop());
}

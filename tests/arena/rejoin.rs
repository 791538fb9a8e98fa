//! Players who come back get their seat back; those who do not forfeit.

use crate::support::arena::{Board, By, TestArena, begin, word};

#[tokio::test]
async fn a_player_who_comes_back_gets_the_seat_for_the_next_game() {
    let arena = TestArena::start("players = 2").await;
    let mut board = arena.game().await;
    let first = word(&board.white.expect("YOUR_MOVE").await, 2).to_owned();
    drop(board.white);
    assert!(board.black.expect("GAME_OVER").await.ends_with("0-1 Resignation by disconnect"));

    let mut back = arena.join(By::WebSocket, &first).await;
    let mut other = board.black;
    let paired = begin(&mut back, &mut other).await;
    assert_eq!(word(&paired, 3), first, "colours change");
    let mut board = Board::new(paired, back, other);
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    assert_eq!(board.over().await, "0-1 Checkmate");
    assert_eq!(board.white.rest().await.pop().unwrap(), "INFO Tournament class is over");

    let (summary, _folder) = arena.end().await;
    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    let rows = tournament.standings.rows();
    let short: Vec<_> = rows.iter().map(|r| (r.score.points(), r.tally.games(), r.tally.forfeits)).collect();
    assert_eq!(short, [(1.0, 2, 0), (1.0, 2, 0)]);
}

#[tokio::test]
async fn an_absent_player_forfeits_the_rest_and_the_tournament_ends() {
    let arena = TestArena::start("players = 3\nabsent_after = '200ms'\ngames_per_pair = 1").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let mut bob = arena.join(By::Tcp, "bob").await;
    let carol = arena.join(By::Tcp, "carol").await;
    drop(carol);
    let paired = loop {
        // Carol can be paired before she is seen to be away.
        let paired = alice.expect("GAME_PAIRED").await;
        if paired.contains("bob") {
            break paired;
        }
    };
    alice.ack(&paired).await;
    bob.ack(&paired).await;
    let mut board = Board::new(paired, alice, bob);
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    let (summary, _folder) = arena.end().await;
    let rows = summary.tournaments[0].standings.rows();
    assert_eq!(rows[0].score.points(), 2.0);
    assert_eq!(rows[1].score.points(), 1.0);
    assert_eq!((rows[2].name.as_str(), rows[2].tally.forfeits, rows[2].tally.losses), ("carol", 2, 2));
}

#[tokio::test]
async fn leaving_before_the_first_pairing_frees_the_seat() {
    let arena = TestArena::start("players = 2\ngames_per_pair = 1").await;
    let mut typo = arena.join(By::Tcp, "alcie").await;
    typo.send("DISCONNECT").await;
    typo.rest().await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    let mut late = arena.join(By::Tcp, "late").await;
    let refusal = late.rest().await.pop().unwrap();
    assert!(
        refusal == "INFO Tournament class is full" || refusal == "INFO Tournament class is over",
        "{refusal}"
    );
    let (summary, _folder) = arena.end().await;
    assert_eq!(summary.tournaments[0].standings.rows().len(), 2);
}

//! Clients that ask for extensions of the original contest protocol.

use crate::support::arena::{By, TestArena, begin, word};

#[test]
async fn legal_moves_come_before_each_request_to_those_who_ask_for_them() {
    let arena = TestArena::start("password = 'sesame'").await;
    let mut white = arena.say("alice", "JOIN class alice sesame +moves +protocol=1").await;
    white.expect("INFO You joined").await;
    let mut black = arena.say("bob", "JOIN class bob sesame").await;
    let paired = begin(&mut white, &mut black).await;
    let game = word(&paired, 1);
    let lines = white.until("YOUR_MOVE").await;
    let [.., variant, started, legal, _] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((variant, word(started, 0)), (&format!("VARIANT {game} chess"), "GAME_STARTED"));
    assert!(legal.starts_with(&format!("LEGAL_MOVES {game} ")) && legal.ends_with(" g1h3"), "{legal}");
    assert_eq!(legal.split(' ').count(), 22);
    white.send(&format!("MOVE {game} e2e5")).await;
    let lines = white.until("YOUR_MOVE").await;
    assert_eq!((word(&lines[0], 0), lines.len(), &lines[1]), ("INFO", 3, legal));
    white.send(&format!("MOVE {game} e2e4")).await;
    let lines = black.until("YOUR_MOVE").await;
    let names: Vec<_> = lines.iter().map(|line| word(line, 0)).filter(|name| *name != "INFO").collect();
    assert_eq!(names, ["GAME_STARTED", "PLAYER_MOVED", "YOUR_MOVE"]);
    arena.stop().await;
}

#[test]
async fn extensions_that_are_not_there_are_refused_with_what_to_do() {
    let arena = TestArena::start("").await;
    for (extensions, told) in [
        ("+protocol=0", "write its files again with zeitnot kit"),
        ("+moves +protocol=2", "update the arena"),
        ("+clock", "Unknown extension; known: +moves, +protocol=1"),
    ] {
        let mut player = arena.say("alice", &format!("JOIN class alice {extensions}")).await;
        let said = player.rest().await;
        assert!(said.len() == 1 && said[0].starts_with("INFO ") && said[0].contains(told), "{said:?}");
    }
    let mut alice = arena.join(By::Tcp, "alice").await;
    alice.expect("INFO You joined").await;
    arena.stop().await;
}

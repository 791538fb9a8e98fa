//! Mistakes of clients, and the answers to them.

use serde_json::{Value, json};

use crate::support::{
    arena::{By, TestArena, begin, results, word},
    log::Log,
};

#[test]
async fn messages_lead_from_the_join_to_the_first_move() {
    let arena = TestArena::start("time = '10+0.1'").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let mut bob = arena.join(By::Tcp, "bob").await;
    let mut lines = Vec::new();
    for _ in 0..4 {
        lines.push(alice.next().await.unwrap());
    }
    let game = word(&lines[3], 1).to_owned();
    alice.send(&format!("ACK {game}")).await;
    lines.push(alice.next().await.unwrap());
    bob.send(&format!("ACK {game}")).await;
    for _ in 0..3 {
        lines.push(alice.next().await.unwrap());
    }
    alice.send(&format!("MOVE {game} g2-g3")).await;
    lines.push(alice.next().await.unwrap());
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let expected = [
        "INFO You joined tournament class (1 active players)".to_owned(),
        "INFO Player bob joined tournament (2 active players)".to_owned(),
        "INFO Paired with bob for game".to_owned(),
        format!("GAME_PAIRED {game} alice bob 10.00 0.10"),
        "INFO Waiting for opponent to acknowledge game".to_owned(),
        "INFO Both players have acknowledged game. Starting...".to_owned(),
        format!("GAME_STARTED {game} alice bob 10.00 10.00 {fen}"),
        format!("YOUR_MOVE {game} alice bob 10.00 10.00 {fen}"),
    ];
    assert_eq!(lines[..8], expected);
    let moved = &lines[8];
    assert!(moved.starts_with(&format!("PLAYER_MOVED {game} alice g2-g3 alice bob ")), "{moved}");
    assert!(moved.ends_with(" 10.00 rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1"), "{moved}");
    let left: f64 = word(moved, 6).parse().unwrap();
    assert!(left <= 10.1, "{moved}");
    arena.stop().await;
}

#[test]
async fn an_illegal_move_is_asked_for_again() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    for nonsense in ["e2-e5", "x", "0000"] {
        board.white.send(&format!("MOVE {} {nonsense}", board.game)).await;
        assert_eq!(board.white.next().await.unwrap(), format!("INFO Move {nonsense} is not legal"));
        assert_eq!(word(&board.white.next().await.unwrap(), 0), "YOUR_MOVE");
    }
    board.white.send(&format!("MOVE {} e2-e4", board.game)).await;
    board.black.expect("YOUR_MOVE").await;
    arena.stop().await;
}

#[test]
async fn the_id_of_another_game_costs_the_connection_and_the_game() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    board.white.send("MOVE 0123 e2-e4").await;
    let info = board.white.expect("INFO You are playing").await;
    assert!(info.ends_with("not 0123"), "{info}");
    board.white.rest().await;
    assert!(board.black.expect("GAME_OVER").await.ends_with("0-1 Resignation by disconnect"));
    arena.stop().await;
}

#[test]
async fn a_wrong_id_before_the_game_is_only_reported() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    alice.expect("INFO You joined").await;
    for line in ["MOVE 0123 e2-e4", "RESIGN 0123", "ACK 0123"] {
        alice.send(line).await;
        assert_eq!(alice.next().await.unwrap(), "INFO You are not in game 0123");
    }
    let mut bob = arena.join(By::Tcp, "bob").await;
    let paired = alice.expect("GAME_PAIRED").await;
    alice.send("ACK 0123").await;
    assert_eq!(alice.next().await.unwrap(), "INFO You are not in game 0123");
    alice.send(&format!("MOVE {} e2-e4", word(&paired, 1))).await;
    alice.expect("INFO The game has not started").await;
    alice.ack(&paired).await;
    bob.ack(&paired).await;
    alice.expect("GAME_STARTED").await;
    arena.stop().await;
}

#[test]
async fn refusals_and_mistakes_stand_in_the_log() {
    let log = Log::capture();
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    arena.join(By::Tcp, "alice").await.rest().await;
    board.white.expect("YOUR_MOVE").await;
    let illegal = format!("MOVE {} e2-e5\n", board.game).repeat(100);
    board.white.writer.send_text(&illegal).await.unwrap();
    let told = board.white.rest().await;
    assert!(told.iter().any(|line| line == "INFO You have sent 100 illegal moves in a row"), "{told:?}");
    assert!(board.black.expect("GAME_OVER").await.ends_with("0-1 Illegal move"));
    board.black.send("MOVE 0123 e2-e4").await;
    board.black.expect("INFO You are not in game").await;
    for line in [
        "alice in class at 127.0.0.1",
        "is disconnected: Name alice is already taken",
        "has sent 10 illegal moves in a row",
        "is disconnected: You have sent 100 illegal moves in a row",
    ] {
        assert!(log.count(line) > 0, "{line}: {}", log.text());
    }
    arena.stop().await;
}

#[test]
async fn the_number_of_illegal_moves_is_a_setting() {
    let arena = TestArena::start("max_illegal_moves = 2").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    board.white.send(&format!("MOVE {} e2-e5", board.game)).await;
    board.white.expect("INFO Move e2-e5 is not legal").await;
    board.white.send(&format!("MOVE {} e2-e5", board.game)).await;
    let told = board.white.rest().await;
    assert_eq!(told.last().unwrap(), "INFO You have sent 2 illegal moves in a row", "{told:?}");
    assert!(board.black.expect("GAME_OVER").await.ends_with("0-1 Illegal move"));
    let (_, folder) = arena.stop().await;
    let told: Value = serde_json::from_str(&results(&folder.database(), &["class", "--json"])).unwrap();
    let game = &told["pairings"][0];
    assert_eq!((&game["reason"], &game["termination"]), (&json!("Illegal move"), &json!("rules infraction")));
}

#[test]
async fn refused_connections_are_told_why() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    alice.expect("INFO You joined").await;
    alice.send("JOIN class alice2").await;
    assert_eq!(alice.next().await.unwrap(), "INFO You have joined already");
    let long = format!("JOIN class {}", "x".repeat(50));
    for (first, why) in [
        ("JOIN class alice", "INFO Name alice is already taken, perhaps by another program of yours"),
        ("JOIN nowhere bob", "INFO Unknown tournament nowhere; the arena has: class"),
        (&long, "INFO 'xxx"),
        ("JOIN class al\u{200b}ice", "INFO 'alice' is not a name: it has a character that is invisible"),
        ("JOIN class \u{202e}ecila", "INFO 'ecila' is not a name"),
        ("JOIN class \u{430}lice", "INFO '\u{430}lice' is not a name: it mixes letters of several scripts"),
        ("JOIN class a1ice", "INFO Name a1ice looks like alice, which is taken"),
        ("JOIN class my bot", "INFO A name has no spaces. Or was the second word a key? Tournament class"),
        ("JOIN class my second bot", "INFO Cannot read this: JOIN: expected a name without spaces"),
        ("JOIN class", "INFO Cannot read this: JOIN: expected a player"),
        ("MOVE 0123 e2-e4", "INFO First JOIN a tournament, or WATCH a game"),
        ("SAY alice hi", "INFO First JOIN"),
        ("HELLO", "INFO Cannot read this: unknown message 'HELLO'"),
    ] {
        for by in [By::Tcp, By::WebSocket] {
            let mut other = arena.connect(by).await;
            other.send(first).await;
            let lines = other.rest().await;
            assert!(lines.len() == 1 && lines[0].starts_with(why), "{first}: {lines:?}");
        }
    }
    arena.stop().await;
}

#[test]
async fn a_player_without_an_ack_is_disconnected_and_the_other_paired_again() {
    let arena = TestArena::start("ack_timeout = '300ms'").await;
    let (mut alice, mut bob, paired) = arena.paired().await;
    alice.ack(&paired).await;
    let lines = bob.rest().await;
    assert_eq!(lines.last().unwrap(), "INFO You did not acknowledge the game in time");
    let aborted = alice.expect("GAME_ABORTED").await;
    assert_eq!(aborted, "GAME_ABORTED Player bob did not acknowledge the game");
    let mut carol = arena.join(By::Tcp, "carol").await;
    assert_ne!(begin(&mut alice, &mut carol).await, paired);
    alice.expect("GAME_STARTED").await;
    arena.stop().await;
}

#[test]
async fn leaving_before_the_ack_aborts_the_game() {
    let arena = TestArena::start("").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let mut bob = arena.join(By::Tcp, "bob").await;
    bob.expect("GAME_PAIRED").await;
    bob.send("DISCONNECT").await;
    assert_eq!(alice.expect("GAME_ABORTED").await, "GAME_ABORTED Player bob left");
    assert!(bob.rest().await.len() <= 1);
    arena.stop().await;
}

//! Moves that are sent, and moves that must not be.

use zeitnot_seat::{Event, Turn};

use crate::support::contest_server::{Client, Connection, Player, START, Server, Transport, in_game};

const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

/// Starts a game and asks alice for her first move.
async fn asked() -> (Server, Client, Connection, Player, Turn) {
    let (server, client, mut wire, mut player) = in_game(Transport::Tcp).await;
    wire.ask("g1").await;
    let turn = player.turn().await;
    (server, client, wire, player, turn)
}

#[test(start_paused = true)]
async fn a_refused_move_is_asked_for_again() {
    let (_server, _client, mut wire, mut player, first) = asked().await;
    player.play(first, "e2e5").await;
    wire.expect("MOVE g1 e2-e5").await;
    wire.say("INFO Move e2-e5 is not legal").await;
    wire.ask("g1").await;
    let Some(Event::Refused { turn, why }) = player.event().await else { panic!() };
    assert_eq!((turn, why.as_str()), (first, "Move e2-e5 is not legal"));
    let Some(Event::Board(_)) = player.event().await else { panic!() };
    let Some(Event::YourTurn { turn: second, .. }) = player.event().await else { panic!() };
    assert!(second > first);
    player.play(first, "d2d4").await; // an answer to the first request is no answer any more
    player.play(second, "e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
}

#[test(start_paused = true)]
async fn a_clock_update_neither_asks_for_a_move_nor_closes_a_request() {
    let (_server, _client, mut wire, mut player, turn) = asked().await;
    wire.say(&format!("CLOCK_UPDATE g1 alice bob 5.00 10.00 {}", START)).await;
    let Some(Event::ClocksRead(clocks)) = player.event().await else { panic!() };
    assert_eq!(clocks.left.0[0].as_secs(), 5);
    player.play(turn, "e2e4").await;
    wire.expect("MOVE g1 e2-e4").await;
    // Once answered, the request is closed: a second answer is not sent, nor one without a request.
    wire.say(&format!("CLOCK_UPDATE g1 alice bob 5.00 10.00 {}", START)).await;
    player.play(turn, "d2d4").await;
    wire.say(&format!("PLAYER_MOVED g1 alice e2-e4 alice bob 5.10 10.00 {AFTER_E4}")).await;
    player.play(turn, "d2d4").await;
    player.play(turn.next(), "d2d4").await;
    wire.ask("g1").await;
    player.answer("a2a3").await;
    wire.expect("MOVE g1 a2-a3").await;
}

#[test(start_paused = true)]
async fn messages_of_other_games_and_unknown_ones_are_skipped() {
    let (_server, _client, mut wire, mut player, turn) = asked().await;
    for line in [
        &format!("YOUR_MOVE g2 carol dave 9.00 9.00 {}", START),
        &format!("CLOCK_UPDATE g2 carol dave 9.00 9.00 {}", START),
        &format!("PLAYER_MOVED g2 carol e2-e4 carol dave 9.00 9.00 {AFTER_E4}"),
        &format!("GAME_STATE g2 carol dave 9.00 9.00 {}", START),
        &format!("GAME_STARTED g2 carol dave 9.00 9.00 {}", START),
        "GAME_PAIRED g2 carol dave 9.00 9.00",
        "GAME_OVER g2 1-0 Checkmate",
        "SAID bob good luck",
        "INFO Player carol joined tournament (4 active players)",
        "FIREWORKS g1 red",
        "YOUR_MOVE",
        "YOUR_MOVE g1 alice bob soon later 8/8",
        "GAME_OVER g1 2-0 Miracle",
        "\u{1b}[2J",
    ] {
        wire.say(line).await;
    }
    player.play(turn, "e7e8q").await;
    wire.expect("MOVE g1 e7-e8=Q").await;
    wire.say("GAME_OVER g1 1-0 Checkmate").await;
    let Some(Event::Ended { result, .. }) = player.event().await else { panic!("nothing else was told") };
    assert_eq!(result, "1-0 Checkmate");
}

#[test(start_paused = true)]
async fn a_move_after_the_end_is_never_sent() {
    let (_server, mut client, mut wire, mut player, turn) = asked().await;
    wire.say("GAME_OVER g1 0-1 Out of time").await;
    assert_eq!(player.ended().await, "0-1 Out of time");
    player.play(turn, "e2e4").await;
    wire.begin("g2").await; // expects the ACK, and nothing before it
    let mut second = client.game().await;
    wire.ask("g2").await;
    let fresh = second.turn().await;
    assert_ne!(fresh, turn, "turns are not shared between games");
    second.play(turn, "e2e4").await;
    second.play(fresh, "d2d4").await;
    wire.expect("MOVE g2 d2-d4").await;
}

#[test(start_paused = true)]
async fn an_unreadable_move_becomes_the_board_after_it() {
    let (_server, _client, mut wire, mut player, _turn) = asked().await;
    wire.say(&format!("PLAYER_MOVED g1 alice pawn-to-king-four alice bob 9.00 9.00 {AFTER_E4}")).await;
    let Some(Event::Board(fen)) = player.event().await else { panic!() };
    assert_eq!(fen, AFTER_E4);
}

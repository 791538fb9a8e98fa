//! From pairing to seat, and pairings without a game.

use zeitnot_rules::Color;
use zeitnot_seat::Event;

use crate::support::contest_server::{START, Transport, in_game, joined};

#[test(start_paused = true)]
async fn an_opponent_who_does_not_ack_costs_only_the_game() {
    let (_server, mut client, mut wire) = joined(Transport::Tcp).await;
    wire.say("GAME_PAIRED g1 alice bob 10.00 0.10").await;
    wire.expect("ACK g1").await;
    wire.say("INFO Waiting for opponent to acknowledged game").await;
    wire.say("GAME_ABORTED Opponent did not acknowledge game").await;
    wire.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[test(start_paused = true)]
async fn an_aborted_game_ends_for_the_player_too() {
    let (_server, mut client, mut wire, mut player) = in_game(Transport::Tcp).await;
    wire.ask("g1").await;
    let turn = player.turn().await;
    wire.say("GAME_ABORTED The lecturer needs the room").await;
    assert_eq!(player.ended().await, "aborted: The lecturer needs the room");
    player.play(turn, "e2e4").await;
    wire.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[test(start_paused = true)]
async fn black_waits_for_white() {
    let (_server, mut client, mut wire) = joined(Transport::Ws).await;
    wire.say("GAME_PAIRED g1 bob alice 10.00 0.10").await;
    wire.expect("ACK g1").await;
    wire.say(&format!("GAME_STARTED g1 bob alice 10.00 10.00 {}", START)).await;
    let mut player = client.game().await;
    assert_eq!(player.info.side, Color::Black);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    wire.say(&format!("PLAYER_MOVED g1 bob e2-e4 bob alice 10.00 10.00 {fen}")).await;
    wire.say(&format!("YOUR_MOVE g1 bob alice 10.00 10.00 {fen}")).await;
    let Some(Event::Moved(mv)) = player.event().await else { panic!() };
    assert_eq!(mv.as_str(), "e2-e4");
    player.answer("e7e5").await;
    wire.expect("MOVE g1 e7-e5").await;
}

#[test(start_paused = true)]
async fn a_game_that_nobody_takes_is_resigned() {
    let (_server, mut client, mut wire) = joined(Transport::Tcp).await;
    wire.begin("g1").await;
    client.decline().await;
    wire.ask("g1").await;
    wire.expect("RESIGN g1").await;
    wire.say("GAME_OVER g1 0-1 Resignation").await;
    wire.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[test(start_paused = true)]
async fn a_player_who_leaves_resigns() {
    let (_server, mut client, mut wire) = joined(Transport::Tcp).await;
    wire.begin("g1").await;
    drop(client.game().await);
    wire.expect("RESIGN g1").await;
}

#[test(start_paused = true)]
async fn a_new_pairing_ends_a_game_whose_end_was_lost() {
    let (_server, mut client, mut wire, mut player) = in_game(Transport::Tcp).await;
    wire.begin("g2").await;
    assert!(player.ended().await.starts_with("unknown"));
    assert_eq!(client.game().await.info.id, "g2");
}

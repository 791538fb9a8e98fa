//! A recorded session over both transports, and whole games.

use std::time::Duration;

use zeitnot_clients::contest::Contest;
use zeitnot_rules::{Color, Game, GameHistory, GameKind, Outcome, chess::Chess};
use zeitnot_seat::Event;

use crate::support::{
    contest_server::{Client, Connection, START, Server, Transport, config, joined},
    log::Log,
};

const GAME: &str = "d779c3aae51c11f186c902fc00000001";

#[test(start_paused = true)]
async fn the_recorded_session_plays_over_both_transports() {
    for transport in [Transport::Tcp, Transport::Ws] {
        recorded(transport).await;
    }
}

/// Session of the protocol's documentation, line by line.
async fn recorded(transport: Transport) {
    let server = Server::start(transport).await;
    let mut client = Client::of::<Contest>(config(&server.address()));
    let mut wire = server.accept().await;
    wire.expect("JOIN class alice").await;
    wire.say("INFO Player bob joined tournament (2 active players)").await;
    wire.say("INFO Paired with player for game").await;
    wire.say(&format!("GAME_PAIRED {GAME} alice bob 10.00 0.10")).await;
    wire.expect(&format!("ACK {GAME}")).await;
    wire.say("INFO Waiting for opponent to acknowledged game").await;
    wire.say("INFO Both players have acknowledged game. Starting...").await;
    wire.say(&format!("GAME_STARTED {GAME} alice bob 10.00 10.00 {}", START)).await;
    let mut player = client.game().await;
    assert_eq!(player.info.id, GAME);
    assert_eq!(player.info.game, GameKind::Chess);
    assert_eq!(player.info.side, Color::White);
    assert_eq!(player.info.start.as_deref(), Some(START));
    assert_eq!(player.info.names.0, ["alice", "bob"]);
    assert_eq!(player.info.time_control.unwrap().to_string(), "10+0.1");

    wire.your_move(GAME, START).await;
    let Some(Event::Board(fen)) = player.event().await else { panic!() };
    assert_eq!(fen, START);
    let Some(Event::YourTurn { turn, clocks }) = player.event().await else { panic!() };
    let clocks = clocks.unwrap();
    assert_eq!(clocks.left.0, [Duration::from_secs(10); 2]);
    assert_eq!(clocks.increment, Duration::from_millis(100));
    player.play(turn, "g2g3").await;
    wire.expect(&format!("MOVE {GAME} g2-g3")).await;
    assert_eq!(player.sent().await, turn);

    let after_ours = "rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1";
    wire.say(&format!("PLAYER_MOVED {GAME} alice g2-g3 alice bob 10.06 10.00 {after_ours}")).await;
    let after_theirs = "rnbqkbnr/ppppp1pp/5p2/8/8/6P1/PPPPPP1P/RNBQKBNR w KQkq - 0 2";
    wire.say(&format!("PLAYER_MOVED {GAME} bob f7-f6 alice bob 10.06 10.10 {after_theirs}")).await;
    wire.say(&format!("YOUR_MOVE {GAME} alice bob 10.06 10.10 {after_theirs}")).await;
    for (mv, left) in [("g2-g3", [10_060, 10_000]), ("f7-f6", [10_060, 10_100])] {
        let Some(Event::Moved(told)) = player.event().await else { panic!() };
        assert_eq!(told.as_str(), mv);
        let Some(Event::ClocksRead(clocks)) = player.event().await else { panic!() };
        assert_eq!(clocks.left.0, left.map(Duration::from_millis));
    }
    assert!(player.turn().await > turn, "a fresh turn");

    wire.say("INFO Game over: 0.5-0.5 Insufficient material").await;
    wire.say(&format!("GAME_OVER {GAME} 0.5-0.5 Insufficient material")).await;
    assert_eq!(player.ended().await, "0.5-0.5 Insufficient material");
    assert!(player.event().await.is_none(), "the seat is gone");
}

/// Server side of a game: bob answers with his last legal move, up to a number of plies.
async fn referee(wire: &mut Connection, game: &str, plies: usize) {
    let mut line = GameHistory::new(Chess::start());
    wire.begin(game).await;
    while line.outcome() == Outcome::Ongoing && line.moves().len() < plies {
        let fen = line.now().print();
        let (name, mv) = match line.now().side_to_move() {
            Color::White => {
                wire.your_move(game, &fen).await;
                let told = wire.hear().await.unwrap();
                let text = told.strip_prefix(&format!("MOVE {game} ")).unwrap().to_owned();
                ("alice", line.now().read(&text).unwrap())
            }
            Color::Black => ("bob", *line.now().moves().last().unwrap()),
        };
        let text = line.now().write(mv);
        line.play(mv);
        let fen = line.now().print();
        wire.say(&format!("PLAYER_MOVED {game} {name} {text} alice bob 9.00 9.00 {fen}")).await;
    }
    wire.say(&format!("GAME_OVER {game} 0.5-0.5 Agreed")).await;
}

#[test(start_paused = true)]
async fn one_tournament_game_after_another() {
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::of::<Contest>(config(&server.address()));
    let referee = tokio::spawn(async move {
        let mut wire = server.joined().await;
        for game in ["first", "second", "third"] {
            referee(&mut wire, game, 60).await;
        }
        wire
    });
    for game in ["first", "second", "third"] {
        let player = client.game().await;
        assert_eq!(player.info.id, game);
        assert_eq!(player.play_first_legal_moves().await, "0.5-0.5 Agreed");
    }
    client.shutdown.soon.cancel();
    let mut wire = referee.await.unwrap();
    wire.expect("DISCONNECT").await;
    wire.expect_close().await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_frame_is_a_line_with_and_without_its_end() {
    let server = Server::start(Transport::Ws).await;
    let mut client = Client::of::<Contest>(config(&server.address()));
    let mut wire = server.accept().await;
    // A server that does not trim would look for an action "DISCONNECT\n".
    assert_eq!(wire.hear_frame().await, "JOIN class alice");
    wire.frame("INFO Player alice joined tournament (1 active players)").await;
    wire.frame("GAME_PAIRED g1 alice bob 10.00 0.10").await;
    assert_eq!(wire.hear_frame().await, "ACK g1");
    wire.frame(&format!("GAME_STARTED g1 alice bob 10.00 10.00 {START}")).await;
    wire.frame(&format!("YOUR_MOVE g1 alice bob 10.00 10.00 {START}")).await;
    let mut player = client.game().await;
    player.answer("e2e4").await;
    assert_eq!(wire.hear_frame().await, "MOVE g1 e2-e4");
    client.shutdown.now.cancel();
    assert_eq!(wire.hear_frame().await, "DISCONNECT");
}

#[test(start_paused = true)]
async fn lines_for_people_are_shown() {
    let log = Log::capture();
    let (_server, _client, mut wire) = joined(Transport::Tcp).await;
    wire.say("INFO You joined; play begins when it is full").await;
    wire.bytes("INFO flood\n".repeat(1000).as_bytes()).await;
    wire.say("GAME_PAIRED g1 alice bob 10.00 0.10").await;
    wire.expect("ACK g1").await;
    assert_eq!(
        log.count("the server says: \"You joined; play begins when it is full\""),
        1,
        "{}",
        log.text()
    );
    assert!((10..30).contains(&log.count("the server says: \"flood\"")), "{}", log.text());
}

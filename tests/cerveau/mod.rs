//! Our client of Cerveau against a scripted server.

use std::time::Duration;

use serde_json::json;
use zeitnot_bot as bot;
use zeitnot_clients::{
    Reconnect,
    cerveau::{Cerveau, Config, Timeouts},
};
use zeitnot_engine::Kind;
use zeitnot_rules::{Color, Game, GameHistory, GameKind, chess::Chess};
use zeitnot_seat::{Action, Event, Seats};

use crate::support::{client::Client, latency::prompt, log::Log};

mod server;

use server::{Server, Wire, message};

const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
const AFTER_E5: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2";

fn config(server: &Server, more: &str) -> Config {
    let text = format!("address = '{}'\nplayer = 'us'\n{more}", server.address());
    let delay = Duration::from_millis(10);
    let timeouts = Timeouts {
        between_games: delay,
        reconnect: Reconnect { min_delay: delay, max_delay: delay, stable_after: delay },
        ..Timeouts::default()
    };
    Config { timeouts, ..toml::from_str(&text).unwrap() }
}

async fn started(more: &str) -> (Server, Client) {
    let server = Server::start().await;
    let client = Client::of::<Cerveau>(config(&server, more));
    (server, client)
}

#[test]
async fn a_game_from_the_request_to_its_end() {
    let log = Log::capture();
    let settings = "session = 'final'\ncolor = 'white'\npassword = 'sesame'\ngame_settings = 'enableTFR=true'\ngames = 1";
    let (server, mut client) = started(settings).await;
    let (mut wire, play) = server.joined().await;
    assert_eq!(
        play,
        json!({ "gameName": "Chess", "requestedSession": "final", "clientType": "Rust", "playerName": "us",
                "playerIndex": 0, "password": "sesame", "gameSettings": "enableTFR=true" })
    );
    let start = Chess::start().print();
    wire.begin("0", &start, json!({ "&LEN": 0 })).await;
    let mut player = client.game().await;
    assert_eq!((player.info.game, player.info.side), (GameKind::Chess, Color::White));
    assert_eq!(
        (player.info.names.0.clone(), player.info.start.clone()),
        (["one", "two"].map(String::from), Some(start))
    );
    assert_eq!(player.info.time_control.unwrap().initial, Duration::from_secs(10));

    wire.order(0).await;
    let Event::Board(_) = player.next().await else { panic!() };
    let (turn, clocks) = player.asked().await;
    assert_eq!(clocks.unwrap().left.0, [Duration::from_secs(10); 2]);
    player.play(turn, "e2e4").await;
    // A move for an earlier turn is not sent.
    player.play(turn, "d2d4").await;
    assert_eq!(wire.finished(0).await, "e2e4");
    wire.clock("0", 9).await;
    wire.moved(0, "e2e4", AFTER_E4).await;
    let Some(Event::ClocksRead(clocks)) = player.event().await else { panic!() };
    assert_eq!(clocks.left.0.map(|left| left.as_secs()), [9, 10]);
    wire.clock("1", 8).await;
    wire.moved(1, "e7e5", AFTER_E5).await;
    wire.order(1).await;
    player.sees("e2e4 e7e5").await;
    assert!(matches!(player.next().await, Event::Board(fen) if fen == AFTER_E5));
    let (turn, clocks) = player.asked().await;
    assert_eq!(clocks.unwrap().left.0.map(|left| left.as_secs()), [9, 8]);
    player.play(turn, "g1f3").await;
    assert_eq!(wire.finished(1).await, "g1f3");
    wire.over(Some("0"), "Opponent made an invalid move.", "Made an invalid move ('').\nValid moves: 'a7a6'")
        .await;
    assert_eq!(player.ended().await, "White wins: Opponent made an invalid move.");
    wire.closed().await;
    client.ends().await;
    assert!(log.text().contains("gamelog: http://127.0.0.1:3080/gamelog/Chess-1-2026"), "{}", log.text());
    assert!(!log.text().contains("sesame"));
}

#[test]
async fn game_after_game_until_stopped() {
    let (server, mut client) = started("").await;
    for (winner, said) in
        [(Some("1"), "Black wins: won"), (None, "draw: Stalemate"), (Some("0"), "White wins: Stalemate")]
    {
        let mut wire = server.playing("1").await;
        let mut player = client.game().await;
        assert_eq!(player.info.side, Color::Black);
        wire.moved(0, "e2e4", AFTER_E4).await;
        wire.order(0).await;
        player.sees("e2e4").await;
        player.answer("e7e5").await;
        assert_eq!(wire.finished(0).await, "e7e5");
        wire.moved(1, "e7e5", AFTER_E5).await;
        player.sees("e7e5").await;
        wire.over(winner, "won", "Draw - Stalemate").await;
        assert_eq!(player.ended().await, said);
        wire.closed().await;
    }
    // The first stop ends the wait for an opponent.
    let (mut wire, _) = server.joined().await;
    client.shutdown.soon.cancel();
    wire.closed().await;
    client.ends().await;
}

#[test]
async fn a_stop_finishes_the_game() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    client.shutdown.soon.cancel();
    wire.order(0).await;
    player.answer("e2e4").await;
    assert_eq!(wire.finished(0).await, "e2e4");
    wire.over(Some("0"), "Checkmate!", "Checkmated").await;
    assert_eq!(player.ended().await, "White wins: Checkmate!");
    client.ends().await;
}

/// The moves before such a game are in SAN, and count for repetitions.
#[test]
async fn a_game_may_begin_with_the_moves_of_a_pgn() {
    let (server, mut client) = started("").await;
    let (mut wire, _) = server.joined().await;
    wire.begin("0", AFTER_E5, json!({ "0": "e4", "1": "e5", "&LEN": 2 })).await;
    let mut player = client.game().await;
    assert_eq!(player.info.start, None);
    wire.order(0).await;
    player.sees("e4 e5").await;
    player.answer("g1f3").await;
    assert_eq!(wire.finished(0).await, "g1f3");
    client.ends_now().await;
}

/// A short message can announce thousands of them.
#[test]
async fn moves_without_a_text_are_one_change_of_the_board() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.say("delta", json!({ "fen": AFTER_E5, "history": { "&LEN": 12_000 } })).await;
    wire.order(0).await;
    // The order comes with the board, too.
    for _ in 0..2 {
        assert!(matches!(player.next().await, Event::Board(fen) if fen == AFTER_E5));
    }
    player.asked().await;
    client.ends_now().await;
}

#[test]
async fn messages_in_pieces_and_in_one_are_the_same() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("1").await;
    let mut player = client.game().await;
    let change = json!({ "fen": AFTER_E4, "history": { "0": "e2e4", "&LEN": 1 }, "name": "Grüße ♞" });
    let order = json!({ "name": "makeMove", "index": 7, "args": [] });
    let both = format!("{}\u{4}\u{4}{}", message("delta", &change), message("order", &order));
    // Also within a character.
    for piece in both.as_bytes().chunks(5) {
        wire.write(piece).await;
        tokio::task::yield_now().await;
    }
    player.sees("e2e4").await;
    player.answer("e7e5").await;
    assert_eq!(wire.finished(7).await, "e7e5");
    client.ends_now().await;
}

#[test]
async fn messages_that_cannot_be_read_are_skipped() {
    let log = Log::capture();
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    for odd in [
        "{\"event\":\"delta\",\u{4}",
        "7\u{4}",
        "{\"event\":\"ran\",\"data\":null}\u{4}",
        "{\"event\":\"delta\",\"data\":[]}\u{4}",
        &format!("{}\u{4}", "[".repeat(50_000)),
        &format!("{}\u{4}", "x".repeat(3 << 20)),
    ] {
        wire.write(odd).await;
    }
    wire.write(b"\xff\xfe\x04").await;
    wire.order(0).await;
    player.answer("e2e4").await;
    assert_eq!(wire.finished(0).await, "e2e4");
    client.ends_now().await;
    assert_eq!(log.count("skipped a message of the server"), 7, "{}", log.text());
    assert_eq!(log.count("a line longer than 65536 bytes"), 1, "{}", log.text());
}

#[test]
async fn a_repeated_order_is_a_refusal() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.order(0).await;
    player.answer("e2e4").await;
    assert_eq!(wire.finished(0).await, "e2e4");
    wire.say("invalid", json!({ "message": "Return value invalid!" })).await;
    wire.order(0).await;
    assert!(matches!(player.next().await, Event::Refused { why, .. } if why == "Return value invalid!"));
    player.answer("d2d4").await;
    assert_eq!(wire.finished(0).await, "d2d4");
    client.ends_now().await;
}

#[test]
async fn a_lost_connection_loses_its_game_and_the_client_comes_again() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.order(0).await;
    player.turn().await;
    drop(wire);
    assert_eq!(player.ended().await, "no result: the server closed the connection");
    // Half a message is discarded.
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.write("{\"event\":\"over\",\"data\":{}}").await;
    drop(wire);
    assert!(player.ended().await.starts_with("no result"));
    let _wire = server.joined().await;
    client.ends_soon().await;
}

/// The server has told the result, but died before its last word.
#[test]
async fn a_result_without_a_last_word_counts() {
    let (server, mut client) = started("games = 1").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.say(
        "delta",
        json!({ "gameObjects": { "0": { "lost": true, "reasonLost": "Checkmated" }, "1": { "won": true } } }),
    )
    .await;
    assert_eq!(player.ended().await, "Black wins: Checkmated");
    drop(wire);
    client.ends().await;
}

#[test]
async fn our_fallen_flag_is_a_lost_game() {
    let (server, mut client) = started("games = 1").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    let message = "Your client has run out of time, and has been timed out.";
    wire.say("fatal", json!({ "message": message, "timedOut": true })).await;
    assert_eq!(player.ended().await, format!("Black wins: {message}"));
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_silent_server_is_left() {
    let server = Server::start().await;
    let short = Duration::from_millis(300);
    let with = |timeouts: Timeouts| Timeouts { answer: short, beyond_clocks: short, ..timeouts };
    let config = config(&server, "");
    let timeouts = with(config.timeouts.clone());
    let mut client = Client::of::<Cerveau>(Config { timeouts, ..config });
    let mut wire = server.accept().await;
    wire.hear().await.unwrap();
    wire.closed().await;
    // While we wait for an opponent, silence is normal; in a game the clocks limit it.
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    assert!(player.ended().await.contains("nothing from the server for 40.3s"));
    wire.closed().await;
    client.ends_now().await;
}

#[test]
async fn refusals_that_the_user_must_resolve_end_the_client() {
    for (said, told) in [
        (
            "Authentication Error: 'Could not authenticate.\n'sesame is not a valid password to play on this server''",
            "Authentication Error: Could not authenticate; set the right `password`",
        ),
        ("Incorrect password for private room session", "room session; set the right `password`"),
        (
            "chess is not a known game alias for any game.",
            "alias for any game; choose a server that has chess",
        ),
        (
            "Unknown setting 'sesame'.\n---\nAvailable game settings:\n- fen (string)",
            "Unknown setting '…'; correct `game_settings`",
        ),
    ] {
        let log = Log::capture();
        let (server, client) = started("password = 'sesame'").await;
        let (mut wire, _) = server.joined().await;
        wire.say("fatal", json!({ "message": said, "timedOut": false })).await;
        drop(wire);
        let error = client.result().await.unwrap_err().to_string();
        assert!(error.contains(told) && !error.contains("sesame"), "{error}");
        assert!(!log.text().contains("sesame"), "{}", log.text());
    }
}

#[test]
async fn other_refusals_are_told_in_a_line_and_tried_again() {
    let log = Log::capture();
    let (server, client) = started("").await;
    let (mut wire, _) = server.joined().await;
    wire.say("fatal", json!({ "message": "Room '1' for game 'Chess' is full! Sorry.", "timedOut": false }))
        .await;
    drop(wire);
    let (mut wire, _) = server.joined().await;
    wire.say("fatal", json!({ "message": "Player index 0 is already taken", "timedOut": false })).await;
    drop(wire);
    let (_wire, _) = server.joined().await;
    client.ends_soon().await;
    for told in [
        "\"Room '1' for game 'Chess' is full! Sorry.\"; reconnecting in",
        "\"Player index 0 is already taken\" (another player has that `color`); reconnecting in",
    ] {
        assert_eq!(log.count(&format!("the server says: {told}")), 1, "{}", log.text());
    }
}

#[test]
async fn another_port_and_another_game_are_named() {
    let log = Log::capture();
    let (server, mut client) = started("").await;
    let mut wire = server.accept().await;
    wire.hear().await.unwrap();
    wire.write("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    drop(wire);
    let mut wire = server.playing("0").await;
    let _player = client.game().await;
    wire.say("order", json!({ "name": "runTurn", "index": 0, "args": [] })).await;
    let error = client.result().await.unwrap_err().to_string();
    assert!(error.contains("orders \"runTurn\""), "{error}");
    assert_eq!(log.count("without a word (programs connect to its TCP port"), 1, "{}", log.text());
}

#[test]
async fn a_game_without_a_player_is_left() {
    let (server, mut client) = started("games = 1").await;
    let mut wire = server.playing("0").await;
    client.decline().await;
    wire.closed().await;

    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.order(0).await;
    let turn = player.turn().await;
    player.actions.send(Action::Leave { turn }).await.unwrap();
    wire.closed().await;

    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    wire.order(0).await;
    let turn = player.turn().await;
    player.actions.send(Action::Resign { turn }).await.unwrap();
    assert_eq!(player.ended().await, "Black wins: resigned by leaving the game");
    wire.closed().await;
    client.ends().await;
}

#[test]
async fn it_joins_when_a_seat_is_free() {
    let server = Server::start().await;
    let seats = Seats::new(1);
    let taken = seats.reserve();
    let mut client = Client::with_seats::<Cerveau>(config(&server, ""), &seats);
    // Another client comes first.
    let own = tokio::net::TcpStream::connect(server.address().trim_start_matches("tcp://")).await.unwrap();
    let mut other = server.accept().await;
    drop(own);
    other.closed().await;
    drop(taken);
    let _wire = server.playing("0").await;
    client.game().await;
    client.ends_now().await;
}

#[test]
async fn it_leaves_the_session_while_no_seat_is_free() {
    let server = Server::start().await;
    let seats = Seats::new(1);
    let mut client = Client::with_seats::<Cerveau>(config(&server, ""), &seats);
    let (mut wire, _) = server.joined().await;
    let taken = seats.reserve().unwrap();
    wire.closed().await;
    drop(taken);
    let _wire = server.playing("0").await;
    client.game().await;
    client.ends_now().await;
}

/// This server sets `TCP_NODELAY`, but sends an order in several small writes.
#[test]
async fn a_request_does_not_wait_for_a_late_acknowledgement() {
    let (server, mut client) = started("").await;
    let mut wire = server.playing("0").await;
    let mut player = client.game().await;
    prompt(async || {
        wire.clock("1", 9).await;
        wire.order(0).await;
        player.answer("e2e4").await;
        assert_eq!(wire.finished(0).await, "e2e4");
    })
    .await;
    client.ends_now().await;
}

/// Plays the last legal move each time against a bot with a second on its clock, until the game is over.
async fn play_badly(wire: &mut Wire) -> GameHistory<Chess> {
    let mut board = GameHistory::new(Chess::start());
    wire.clock("0", 1).await;
    while !board.outcome().is_over() {
        let number = board.moves().len();
        let order = number as u64 / 2;
        let text = if board.now().side_to_move() == Color::White {
            wire.order(order).await;
            wire.finished(order).await
        } else {
            let mv = *board.now().moves().last().unwrap();
            board.now().write(mv).to_string()
        };
        board.play(board.now().read(&text).unwrap());
        wire.moved(number, &text, &board.now().print()).await;
    }
    wire.over(Some("0"), "Checkmate!", "Checkmated").await;
    board
}

#[test(limit = zeitnot_testing::LONG)]
async fn a_bot_of_ours_plays_a_whole_game() {
    let log = Log::capture();
    let server = Server::start().await;
    let client =
        Client::with_bot::<Cerveau>(config(&server, "games = 1"), Kind::Search, bot::Config::default());
    let mut wire = server.playing("0").await;
    let board = play_badly(&mut wire).await;
    client.ends().await;
    assert!(board.moves().len() > 6 && !log.text().contains("differs from ours"), "{}", log.text());
}

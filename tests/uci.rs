//! The program as an engine: a real process, spoken to as a GUI does.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers are tests, too

use std::{io::Write, thread, time::Duration};

use zeitnot::game::{Game, chess::Chess};

#[path = "support/engine.rs"]
mod engine;
use engine::Engine;

#[test]
fn introduces_itself() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("uci");
    let lines = engine.until("uciok");
    for option in ["Hash", "Threads", "Move Overhead", "Ponder", "UCI_Chess960"] {
        assert!(lines.iter().any(|l| l.starts_with(&format!("option name {option} type "))), "{option}");
    }
    engine.say("quit");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn answers_every_kind_of_go() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("setoption name Hash value 8");
    engine.say("setoption name Threads value 2");
    for position in [
        "startpos",
        "startpos moves e2e4",
        "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    ] {
        engine.say(&format!("position {position}"));
        for go in [
            "wtime 100",
            "btime 100",
            "winc 50 wtime 200",
            "movestogo 1 btime 300 wtime 300",
            "binc 10",
            "wtime -20 btime -20",
            "movetime 30",
            "depth 3",
            "depth 0",
            "nodes 1",
            "nodes 2000",
            "mate 1 depth 4",
        ] {
            engine.say(&format!("go {go}"));
            let mv = engine.best_move();
            assert_ne!(mv, "(none)", "{position} {go}");
        }
    }
    engine.say("position startpos");
    engine.say("go depth 5 searchmoves a2a3 h2h3");
    assert!(["a2a3", "h2h3"].contains(&engine.best_move().as_str()));
}

#[test]
fn a_search_without_end_ends_with_stop() {
    let mut engine = Engine::start(&["uci"]);
    // A mate so near that the search is over at once, and must keep it to itself.
    engine.say("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    for go in ["go infinite", "go infinite depth 2", "go ponder wtime 1000 btime 1000"] {
        engine.say(go);
        // However busy the machine is: the search has begun.
        engine.until("info depth 1 ");
        thread::sleep(Duration::from_millis(100));
        engine.say("stop");
        assert!(engine.until("bestmove").last().unwrap().starts_with("bestmove g6g7"), "{go}");
    }
    engine.say("go ponder wtime 2000 btime 2000 depth 1");
    engine.until("info depth 1 ");
    engine.say("ponderhit");
    assert!(engine.until("bestmove").last().unwrap().starts_with("bestmove g6g7"));
    assert!(engine.is_silent(), "one answer to one question");
}

#[test]
fn a_position_without_moves_has_no_best_move() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("position startpos moves f2f3 e7e5 g2g4 d8h4");
    engine.say("go movetime 50");
    assert_eq!(engine.best_move(), "(none)");
}

#[test]
fn castles_as_chess960_does_when_told() {
    let mut engine = Engine::start(&["uci"]);
    let mate_or_castle = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (option, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        engine.say(&format!("setoption name UCI_Chess960 value {option}"));
        engine.say(&format!("position {mate_or_castle}"));
        engine.say(&format!("go depth 2 searchmoves {castling}"));
        assert_eq!(engine.best_move(), castling);
    }
}

#[test]
fn survives_nonsense_and_says_what_is_wrong() {
    let mut engine = Engine::start(&["uci"]);
    for (nonsense, complaint) in [
        ("hello", "unknown message 'hello'"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "is no position of chess"),
        ("position startpos moves e2e5", "'e2e5' is no legal move here"),
        ("position", "expected startpos or fen"),
        ("setoption name Hash value lots", "'lots' is no value for Hash"),
        ("setoption name Threads value 257", "'257' is no value for Threads"),
        ("setoption name Nonsense value 1", "no option 'Nonsense'"),
        ("setoption", "expected name"),
    ] {
        engine.say(nonsense);
        let line = engine.hear();
        assert!(line.starts_with("info string error: ") && line.contains(complaint), "{nonsense}: {line}");
    }
    engine.input.as_mut().unwrap().write_all(b"\xff\xfe\x00\n\n  \nstop\nponderhit\n").unwrap();
    engine.until("info string error: unknown message");
    engine.input.as_mut().unwrap().write_all(&vec![b'x'; 3 << 20]).unwrap();
    engine.say(" quit\ngo depth 2");
    engine.best_move();
}

#[test]
fn the_end_of_input_ends_it_after_the_answer() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("go depth 6");
    drop(engine.input.take());
    engine.best_move();
    assert_eq!(engine.wait(), 0);

    let mut engine = Engine::start(&["uci"]);
    engine.say("go infinite");
    drop(engine.input.take());
    engine.best_move();
    assert_eq!(engine.wait(), 0);
}

#[test]
fn plays_a_game_against_itself() {
    let mut engine = Engine::start(&["uci"]);
    let (mut position, mut moves) = (Chess::start(), String::new());
    for _ in 0..60 {
        engine.say(&format!("position startpos moves{moves}"));
        engine.say("go nodes 500");
        let text = engine.best_move();
        position.play(position.read(&text).unwrap());
        moves = format!("{moves} {text}");
        if position.outcome().is_over() {
            break;
        }
    }
}

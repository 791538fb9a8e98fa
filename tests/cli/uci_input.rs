//! The program as an engine with input that is invalid, out of order, random, or at its end.

use std::{io::Write, process::Stdio};

use zeitnot_testing::wait_for;
use zeitnot_wire::uci::{FromGui, Words};

use crate::support::{command::zeitnot, uci_engine::Engine};

#[test]
fn invalid_input_gets_an_error_each() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("go depht 3 nodes 1");
    assert_eq!(engine.hear(), "info string error: go: 'depht 3' is unknown or lacks a number; ignored");
    engine.best_move();
    engine.complains(&[
        ("hello", "unknown message 'hello'"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "is not a position of chess"),
        ("position startpos moves e2e5", "'e2e5' is not a legal move here"),
        ("position", "expected startpos or fen"),
        ("setoption name Hash value lots", "'lots' is not a value for Hash"),
        ("setoption name Threads value 257", "'257' is not a value for Threads"),
        ("setoption name Nonsense value 1", "no option 'Nonsense'"),
        ("setoption", "expected name"),
        ("go perft", "go perft: expected a depth from 1 to 20, got ''"),
        ("setoption name Hash", "'' is not a value for Hash"),
        ("setoption name Hash value 0", "'0' is not a value for Hash (1 to "),
        ("setoption name Hash value 33554433", "is not a value for Hash"),
        ("setoption name MultiPV value -1", "'-1' is not a value for MultiPV (1 to 256)"),
        ("setoption name UCI_ShowWDL value", "'' is not a value for UCI_ShowWDL (true or false)"),
        ("setoption name BookFile value /nowhere.bin", "book /nowhere.bin: cannot be read"),
        ("setoption name SyzygyPath value /nowhere", "endgame tables: /nowhere: cannot be read"),
        ("position startpos moves e2e4 e7e5 e4e5 g8f6", "'e4e5' is not a legal move here"),
        ("position startpos moves e2e4 \u{1b}[2J e7e5", "is not a legal move here"),
    ]);
    engine.input.as_mut().unwrap().write_all(b"\xff\xfe\x00\n\n  \nstop\nponderhit\n").unwrap();
    engine.until("info string error: unknown message");
    engine.input.as_mut().unwrap().write_all(&vec![b'x'; 3 << 20]).unwrap();
    engine.say(" quit\nposition startpos\ngo depth 2");
    engine.until("info string error: a line of more than 1 MiB was skipped");
    engine.best_move();
}

/// It would be a move for another position than the GUI has in mind.
#[test]
fn after_an_invalid_position_nothing_is_searched() {
    const NO_POSITION: &str = "info string error: no position: the last one was invalid; send another one";
    let mut engine = Engine::start(&["uci"]);
    let too_long = format!("position startpos moves{}", " e2e4".repeat(300_000));
    for invalid in
        ["position startpos moves e2e4 e7e5 e4e5", "position fen 8/8 w - - 0 1", "position", &too_long]
    {
        engine.say(&format!("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1\n{invalid}"));
        assert!(engine.hear().starts_with("info string error: "));
        engine.say("go depth 2");
        assert_eq!([engine.hear(), engine.hear()], [NO_POSITION, "bestmove (none)"], "{:.60}", invalid);
    }
    // As ever, an infinite search is answered after stop only.
    engine.say("go infinite");
    assert_eq!(engine.hear(), NO_POSITION);
    assert!(engine.is_silent());
    engine.say("stop");
    assert_eq!(engine.hear(), "bestmove (none)");
    // A valid position, a new game and another variant are to be searched again.
    assert_eq!(engine.move_for("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1\ngo depth 2"), "g6g7");
    for valid in ["ucinewgame", "setoption name UCI_Variant value atomic"] {
        engine.say("position nonsense");
        engine.hear();
        assert_eq!(engine.move_for(&format!("{valid}\ngo depth 1")).len(), 4);
    }
}

#[test]
fn each_go_has_one_answer_in_any_order() {
    let mut engine = Engine::start(&["uci"]);
    let gos = [
        "go infinite",
        "go",
        "go depth -5",
        "go movetime -1",
        "go nodes 99999999999999999999",
        "go mate 99999 infinite",
    ];
    for go in gos.into_iter().cycle().take(60) {
        engine.say(go);
    }
    // Each but the last ends with the next one.
    for command in [
        "stop",
        "stop",
        "ponderhit",
        "setoption name Clear Hash",
        "setoption name Threads value 2",
        "ucinewgame",
        "stop",
    ] {
        engine.say(command);
    }
    engine.say("isready");
    let told = engine.until("readyok");
    assert_eq!(told.iter().filter(|line| line.starts_with("bestmove ")).count(), 60);
    assert!(engine.is_silent());
}

#[test]
fn random_input_is_survived_and_each_go_is_answered() {
    const WORDS: &str = "go go go position startpos fen moves e2e4 e7e5 a7a8q 8/8/8/8/8/8/8/8 rnbqkbnr/8 w b KQkq - stop ponderhit \
        isready uci ucinewgame setoption name value Hash Threads MultiPV UCI_Variant UCI_Chess960 BookFile Clear atomic horde chess \
        wtime btime winc movestogo movetime depth nodes mate infinite ponder searchmoves 0 1 2 3 -7 99999999999999999999 \u{e9} \0 true";
    let words: Vec<_> = WORDS.split_whitespace().collect();
    let mut random = fastrand::Rng::with_seed(6);
    let mut engine = Engine::start(&["uci"]);
    let mut gos = 0;
    for _ in 0..600 {
        let line: Vec<_> = (0..random.usize(1..9)).filter_map(|_| random.choice(&words).copied()).collect();
        let line = line.join(" ");
        gos += usize::from(matches!(FromGui::parse(&line, Words::Uci), Ok(FromGui::Go { .. })));
        engine.say(&line);
    }
    engine.say("stop\ngo nodes 1");
    // The last words may be of any game, with or without a move in it.
    let mut answers = 0;
    while answers <= gos {
        let line = engine.hear();
        assert!(
            ["info ", "id ", "option ", "uciok", "readyok", "bestmove "]
                .iter()
                .any(|word| line.starts_with(word)),
            "{line}"
        );
        answers += usize::from(line.starts_with("bestmove "));
    }
    assert!(engine.is_silent());
}

#[test]
fn short_searches_in_quick_succession_are_all_answered() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("setoption name Hash value 1");
    for round in 0..400 {
        if round % 40 == 0 {
            engine.say(&format!("setoption name Threads value {}", 1 + round / 40 % 3));
            engine.say("ucinewgame");
        }
        engine.say(&format!("go nodes {}", [1, 2, 30, 500][round % 4]));
        engine.best_move();
    }
}

/// At the end of the input the GUI is gone, or the commands came from a pipe: then the depth was asked for.
#[test]
fn the_end_of_input_ends_the_engine_after_its_answer() {
    for go in [
        "go depth 6",
        "go nodes 20000",
        "go infinite",
        "go",
        "go ponder wtime 100",
        "go mate 9",
        "go searchmoves e2e4",
        "go movetime 3600000",
        "go wtime 36000000 btime 36000000",
    ] {
        let mut engine = Engine::start(&["uci"]);
        engine.say(go);
        drop(engine.input.take());
        let lines = engine.until("bestmove");
        assert!(
            go != "go depth 6" || lines.iter().any(|line| line.starts_with("info depth 6 ")),
            "{lines:?}"
        );
        assert_eq!(engine.wait(), 0, "{go}");
    }
    let mut engine = Engine::start(&["uci"]);
    engine.say("go infinite\nquit");
    assert_eq!(engine.wait(), 0);
}

/// A search without end that nobody reads must not keep a core busy for ever.
#[test]
fn a_search_to_a_depth_ends_with_its_reader() {
    let mut engine =
        zeitnot(&["uci"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    engine.stdin.take().unwrap().write_all(b"go depth 200\n").unwrap();
    drop(engine.stdout.take());
    let ended = wait_for("its end", || engine.try_wait().unwrap());
    assert_eq!(ended.code(), Some(1));
}

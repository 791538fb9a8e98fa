//! The program as an engine: a real process, spoken to as a GUI does.

use std::{collections::HashSet, fs};

use zeitnot_engine::net::Weights;
use zeitnot_rules::{DynGame, Game, GameKind, chess::Chess};

use crate::support::{polyglot::Builder, uci_engine::Engine};

/// The word after a word of a line.
fn after<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.split(' ').skip_while(|other| *other != word).nth(1)
}

#[test]
fn options_are_listed_and_documented() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("uci");
    let lines = engine.until("uciok");
    let known =
        lines.iter().filter_map(|line| Some(line.strip_prefix("option name ")?.split_once(" type ")?.0));
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/uci.md")).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| `"));
    let documented = rows.map_while(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(known.collect::<Vec<_>>(), documented.collect::<Vec<_>>());
    engine.say("quit");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn every_kind_of_go_is_answered() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("setoption name Hash value 8\nsetoption name Threads value 2");
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
            let mv = engine.move_for(&format!("go {go}"));
            assert_ne!(mv, "(none)", "{position} {go}");
        }
    }
}

#[test]
fn searchmoves_limits_the_search() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("go depth 5 searchmoves a2a3 h2h3");
    assert!(["a2a3", "h2h3"].contains(&engine.best_move().as_str()));
    engine.say("go depth 3 searchmoves e2e5 h2h4");
    assert_eq!(engine.hear(), "info string error: 'e2e5' is not a legal move here");
    assert_eq!(engine.best_move(), "h2h4");
    engine.say("go depth 3 searchmoves e2e5 e7e5");
    assert_eq!(engine.hear(), "info string error: 'e2e5' is not a legal move here");
    assert_eq!(engine.hear(), "bestmove (none)");
    // An infinite search ends only with stop.
    engine.say("go infinite searchmoves e2e5");
    assert_eq!(engine.hear(), "info string error: 'e2e5' is not a legal move here");
    assert!(engine.is_silent());
    engine.say("stop");
    assert_eq!(engine.hear(), "bestmove (none)");
}

/// The lines of each iteration: their numbers, first moves and scores.
fn lines(told: &[String]) -> Vec<Vec<(usize, String, i32)>> {
    let mut iterations: Vec<Vec<_>> = Vec::new();
    for line in told.iter().filter(|line| line.contains(" pv ")) {
        let depth: usize = after(line, "depth").unwrap().parse().unwrap();
        iterations.resize_with(depth.max(iterations.len()), Vec::new);
        let number = after(line, "multipv").unwrap().parse().unwrap();
        let score = after(line, "cp").unwrap().parse().unwrap();
        iterations[depth - 1].push((number, after(line, "pv").unwrap().to_owned(), score));
    }
    iterations
}

#[test]
fn multipv_reports_distinct_lines_best_first() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("setoption name MultiPV value 4");
    for (position, only, count) in [
        ("startpos", "", 4),
        ("fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", "", 4),
        // There are no more that are asked for, or that there are.
        ("startpos", " searchmoves e2e3 e2e4", 2),
        ("fen 7k/5K2/8/8/8/8/8/R7 b - - 0 1", "", 1),
    ] {
        engine.say(&format!("position {position}"));
        let told = engine.answer(&format!("go depth 7{only}"));
        if count == 1 {
            assert!(told.iter().all(|line| !line.contains("multipv 2")), "{told:?}");
            continue;
        }
        let iterations = lines(&told);
        assert_eq!(iterations.len(), 7);
        for found in &iterations {
            assert!(found.iter().map(|line| line.0).eq(1..=count), "{found:?}");
            assert!(found.is_sorted_by(|a, b| a.2 >= b.2), "{found:?}");
            let mut moves: Vec<_> = found.iter().map(|line| &line.1).collect();
            moves.sort();
            moves.dedup();
            assert_eq!(moves.len(), count, "{found:?}");
        }
        assert_eq!(after(told.last().unwrap(), "bestmove").unwrap(), iterations[6][0].1);
    }
    engine.say("setoption name MultiPV value 1\nposition startpos");
    assert!(engine.answer("go depth 4").iter().all(|line| !line.contains("multipv")));
}

#[test]
fn a_limited_strength_answers_with_one_legal_line_and_mates() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 1200");
    engine
        .complains(&[("setoption name UCI_Elo value 699", "'699' is not a value for UCI_Elo (700 to 2900)")]);
    let mut played = HashSet::new();
    for _ in 0..20 {
        engine.say("position startpos");
        let told = engine.answer("go wtime 60000 btime 60000");
        assert!(told.iter().all(|line| !line.contains(" multipv ")), "{told:?}");
        let nodes = told.iter().filter_map(|line| after(line, "nodes")?.parse::<u64>().ok()).max();
        assert!(nodes.is_some_and(|nodes| nodes < 2000), "{told:?}");
        played.insert(after(&told[told.len() - 1], "bestmove").unwrap().to_owned());
    }
    assert!(played.len() > 1, "{played:?}");
    engine.say("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    assert_eq!(engine.move_for("go wtime 60000 btime 60000"), "a1a8");
    engine.say("setoption name UCI_LimitStrength value false\nposition startpos");
    let told = engine.answer("go depth 7");
    assert!(told.iter().any(|line| after(line, "depth") == Some("7")), "{told:?}");
}

#[test]
fn wdl_is_reported_on_request() {
    let mut engine = Engine::start(&["uci"]);
    for (option, is_told) in [("false", false), ("true", true)] {
        engine.say(&format!("setoption name UCI_ShowWDL value {option}"));
        engine.say("go depth 3");
        for line in engine.until("bestmove").iter().filter(|line| line.contains(" score ")) {
            let wdl = line.split(' ').skip_while(|word| *word != "wdl").skip(1).take(3);
            let sum: u32 = wdl.map(|share| share.parse::<u32>().unwrap()).sum();
            assert_eq!(sum, if is_told { 1000 } else { 0 }, "{line}");
        }
    }
    engine.say("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    assert!(engine.answer("go depth 4").iter().any(|line| line.contains(" score mate 1 wdl 1000 0 0 ")));
}

#[test]
fn the_book_is_played_from_but_not_analysed_with() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("our book.bin");
    let other = folder.path().join("other");
    let start = Chess::start().book_key().unwrap();
    let entries = [("a2a3", 3), ("h2h4", 1)].into_iter();
    let builder = entries.fold(Builder::default(), |book, (mv, weight)| book.entry(start, mv, weight));
    fs::write(&book, builder.bytes()).unwrap();
    fs::write(&other, "this is no book").unwrap();

    let mut engine = Engine::start(&["uci"]);
    engine.say(&format!("setoption name BookFile value {}", other.display()));
    let complaint = engine.hear();
    assert!(
        complaint.starts_with("info string error: book ") && complaint.contains("not a Polyglot book"),
        "{complaint}"
    );
    assert_ne!(engine.move_for("go nodes 100"), "a2a3", "it plays without");

    engine.say(&format!("setoption name BookFile value {}", book.display()));
    engine.say("setoption name BookSelect value best");
    for go in ["go wtime 10000 btime 10000", "go nodes 100", "go movetime 50", "go depth 2"] {
        engine.say(go);
        assert_eq!(engine.until("bestmove").last().unwrap(), "bestmove a2a3", "{go}");
    }
    engine.say("setoption name BookSelect value uniform");
    let mut seen: Vec<_> = (0..64)
        .map(|_| {
            engine.say("go nodes 100");
            engine.until("bestmove").pop().unwrap()
        })
        .collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["bestmove a2a3", "bestmove h2h4"]);

    for go in ["go infinite", "go ponder wtime 1000 btime 1000", "go mate 1", "go"] {
        engine.say(go);
        engine.until("info depth 1 ");
        engine.say("stop");
        engine.until("bestmove");
    }
    for option in [
        ("UCI_AnalyseMode", "true", "false"),
        ("MultiPV", "2", "1"),
        ("BookDepth", "0", "40"),
        ("BookFile", "<empty>", ""),
    ] {
        engine.say(&format!("setoption name {} value {}", option.0, option.1));
        let told = engine.answer("go nodes 500");
        assert!(told.iter().any(|line| line.starts_with("info depth 1 ")), "{option:?}: {told:?}");
        engine.say(&format!("setoption name {} value {}", option.0, option.2));
    }
}

#[test]
fn each_variant_is_played_by_its_rules() {
    let mut engine = Engine::start(&["uci"]);
    for (variant, game) in [
        ("crazyhouse", GameKind::Crazyhouse),
        ("atomic", GameKind::Atomic),
        ("antichess", GameKind::Antichess),
        ("horde", GameKind::Horde),
        ("kingofthehill", GameKind::KingOfTheHill),
        ("racingkings", GameKind::RacingKings),
        ("3check", GameKind::ThreeCheck),
        ("gardner", GameKind::Gardner),
        ("chess", GameKind::Chess),
    ] {
        engine.say(&format!("setoption name UCI_Variant value {variant}"));
        engine.say("ucinewgame");
        let mut line = DynGame::begin(game, None).unwrap();
        for _ in 0..24 {
            let moves: String = line.moves().iter().map(|mv| format!(" {mv}")).collect();
            engine.say(&format!("position startpos moves{moves}"));
            engine.say("go nodes 300");
            let mv = line.read(&engine.best_move()).unwrap();
            line.play(&mv).unwrap();
            if line.outcome().is_over() {
                break;
            }
        }
    }
    // What is won by the rules of one is nothing in another; and options stay as they were set.
    engine.say("setoption name MultiPV value 2\nsetoption name UCI_Variant value kingofthehill\nposition fen 4k3/8/8/8/8/4K3/8/8 w - - 0 1");
    let told = engine.answer("go depth 3");
    assert!(told.iter().any(|line| line.contains("multipv 2 score mate 1")), "both squares win: {told:?}");
    engine.say("setoption name UCI_Variant value crazyhouse\nposition fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR[Q] w KQkq - 0 1");
    assert_eq!(engine.move_for("go depth 2 searchmoves Q@e4"), "Q@e4");
    engine.say("setoption name UCI_Variant value bughouse");
    assert!(engine.hear().contains("'bughouse' is not a value for UCI_Variant"));
}

#[test]
fn without_arguments_the_program_speaks_uci_through_a_pipe() {
    let mut engine = Engine::start(&[]);
    engine.say("uci");
    engine.until("uciok");
    engine.say("quit");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn an_infinite_search_answers_only_after_stop() {
    let mut engine = Engine::start(&["uci"]);
    // The mate is so near that the search is over at once, and the answer must wait.
    engine.say("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    for go in ["go infinite", "go infinite depth 2", "go ponder wtime 1000 btime 1000"] {
        engine.say(go);
        engine.until("info depth 1 ");
        engine.say("isready");
        assert!(!engine.until("readyok").iter().any(|line| line.starts_with("bestmove")), "{go}");
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
    assert_eq!(engine.move_for("go movetime 50"), "(none)");
}

#[test]
fn castling_is_written_as_the_option_says() {
    let mut engine = Engine::start(&["uci"]);
    let mate_or_castle = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (option, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        engine.say(&format!("setoption name UCI_Chess960 value {option}"));
        engine.say(&format!("position {mate_or_castle}"));
        assert_eq!(engine.move_for(&format!("go depth 2 searchmoves {castling}")), castling);
    }
}

#[test]
fn endgame_tables_decide_the_score() {
    let mut engine = Engine::start(&["uci"]);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/syzygy");
    engine.say(&format!("setoption name SyzygyPath value {folder}"));
    assert_eq!(engine.hear(), "info string endgame tables of chess: 5 WDL and 5 DTZ tables, up to 3 pieces");
    for position in ["8/8/8/8/1P5k/8/8/K7 w - - 0 1", "8/8/8/8/3k4/8/1R1p1K2/8 w - - 0 1"] {
        engine.say("setoption name SyzygyProbeLimit value 7");
        engine.say(&format!("position fen {position}"));
        let lines = engine.answer("go depth 6");
        let asked = lines.iter().rev().find_map(|line| after(line, "tbhits"));
        assert!(asked.is_some_and(|hits| hits.parse::<u64>().unwrap() > 0), "{lines:?}");
        engine.say("setoption name SyzygyProbeLimit value 0");
        let lines = engine.answer("go depth 6");
        assert!(lines.iter().all(|line| after(line, "tbhits").is_none()), "{lines:?}");
    }
    engine.say(
        "setoption name SyzygyProbeLimit value 7\nposition fen 8/8/8/8/1P5k/8/8/K7 w - - 0 1\ngo depth 1",
    );
    let line = engine.hear();
    assert!(after(&line, "cp").is_some_and(|score| score.parse::<i32>().unwrap() > 30_000), "{line}");
    engine.until("bestmove");
}

#[test]
fn d_prints_the_board_of_each_game() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("position startpos moves e2e4 f7f6 d1h5\nd");
    let told = engine.until("Checkers:").join("\n");
    let head = "\n +---+---+---+---+---+---+---+---+\n | r | n | b | q | k | b | n | r | 8\n";
    assert!(told.starts_with(head), "{told}");
    let fen = "rnbqkbnr/ppppp1pp/5p2/7Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2";
    assert!(
        told.contains(&format!("\n   a   b   c   d   e   f   g   h\n\nFen: {fen}\nSide: black\nKey: ")),
        "{told}"
    );
    assert!(told.ends_with("\nCheckers: h5"), "{told}");
    engine.say("setoption name UCI_Variant value crazyhouse\nposition startpos moves e2e4 d7d5 e4d5\nd");
    let told = engine.until("Checkers:").join("\n");
    assert!(told.contains("\n\nPocket of White: P\n\nFen: "), "{told}");
    engine.say("position fen nonsense\nd");
    assert!(engine.hear().starts_with("info string error: "));
    assert!(engine.hear().starts_with("info string error: no position"));
}

#[test]
fn another_evaluation_is_chosen_and_a_broken_one_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("material.net");
    let mut bytes = Weights::material().to_bytes();
    fs::write(&path, &bytes).unwrap();
    let broken = folder.path().join("broken.net");
    bytes[100] ^= 1;
    fs::write(&broken, bytes).unwrap();
    let mut engine = Engine::start(&["uci"]);
    // White can take a queen.
    engine.say("position fen 4k3/8/8/3q4/4P3/8/8/4K2R w K - 0 1");
    engine.say(&format!("setoption name EvalFile value {}", path.display()));
    engine.say("isready");
    let told = engine.until("readyok").join("\n");
    assert!(
        told.contains(&format!("info string evaluation: {}, 32 values a side", path.display())),
        "{told}"
    );
    assert_eq!(engine.move_for("go depth 4"), "e4d5");
    engine.say(&format!("setoption name evalfile value {}\nisready", broken.display()));
    let told = engine.until("readyok").join("\n");
    assert!(told.contains("broken.net: is damaged") && told.contains("; it stays as it is"), "{told}");
    engine.say("uci");
    let told = engine.until("uciok").join("\n");
    assert!(told.contains(&format!("option name EvalFile type string default {}", path.display())), "{told}");
    engine.say("setoption name EvalFile value hand-made\nisready");
    let told = engine.until("readyok").join("\n");
    assert!(told.contains("info string evaluation: hand-made"), "{told}");
    assert_eq!(engine.move_for("go depth 4"), "e4d5");
    engine.say("quit");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn perft_counts_each_root_move_as_stockfish_does() {
    let mut engine = Engine::start(&["uci"]);
    engine
        .say("position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\ngo perft 3");
    let told = engine.until("Nodes searched:");
    let (counts, end) = told.split_at(48);
    assert!(counts.contains(&"e1g1: 2059".to_owned()), "{told:?}");
    let sum: u64 = counts.iter().map(|line| line.split_once(": ").unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!((sum, end), (97_862, ["".to_owned(), "Nodes searched: 97862".to_owned()].as_slice()));
    engine.say("setoption name UCI_Variant value atomic\ngo perft 2");
    assert_eq!(engine.until("Nodes searched:").last().unwrap(), "Nodes searched: 400");
}

#[test]
fn perft_is_stopped_and_what_comes_meanwhile_waits() {
    let mut engine = Engine::start(&["uci"]);
    engine.say("go perft 12\nisready");
    engine.until("readyok");
    engine.say("position startpos moves e2e4\ngo depth 1\nposition nonsense\nstop");
    let told = engine.until("bestmove");
    assert!(!told.iter().any(|line| line.contains("Nodes searched")), "{told:?}");
    assert!(!told.last().unwrap().contains("(none)"), "the position before is searched: {told:?}");
    // Commands from a pipe are counted to their end, one after the other.
    engine.say("position startpos\ngo perft 3\nposition startpos moves e2e4\ngo perft 2\ngo infinite");
    drop(engine.input.take());
    let ends: Vec<_> = (0..2).map(|_| engine.until("Nodes searched:").pop().unwrap()).collect();
    assert_eq!(ends, ["Nodes searched: 8902", "Nodes searched: 600"]);
    engine.until("bestmove");
    assert_eq!(engine.wait(), 0);
    let mut engine = Engine::start(&["uci"]);
    engine.say("go perft 12\nquit");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn the_last_line_of_a_search_by_nodes_tells_them_all() {
    let mut engine = Engine::start(&["uci"]);
    for (position, nodes) in [("startpos", 1), ("startpos", 1_000), ("startpos moves e2e4", 20_000)] {
        engine.say(&format!("ucinewgame\nposition {position}"));
        let told = engine.answer(&format!("go nodes {nodes}"));
        let last = told.iter().rev().find(|line| line.starts_with("info depth")).unwrap();
        assert_eq!(after(last, "nodes"), Some(nodes.to_string().as_str()), "{told:?}");
        let best = told.last().and_then(|line| after(line, "bestmove"));
        assert_eq!(after(last, "pv"), best, "{told:?}");
    }
}

#[test]
fn eval_tells_the_parts_from_both_sides() {
    let mut engine = Engine::start(&["uci"]);
    for (option, parts) in [
        ("EvalFile value net", vec!["net", "drawish ending", "fifty-move rule"]),
        (
            "EvalFile value hand-made",
            vec![
                "material and squares",
                "pawns and shelter",
                "pieces and kings",
                "side to move",
                "endgame scale",
                "fifty-move rule",
            ],
        ),
        ("UCI_Variant value atomic", vec!["net"]),
    ] {
        engine.say(&format!("setoption name {option}\nposition startpos moves e2e4\neval"));
        let told = engine.until("Final evaluation");
        let at = told.iter().position(|line| line.starts_with("Evaluation in pawns ")).unwrap();
        let rows: Vec<(&str, [f64; 2])> = told[at + 1..]
            .iter()
            .map(|line| {
                let number = |text: &str| text.trim().parse().unwrap();
                (line[..24].trim_end(), [number(&line[24..32]), number(&line[32..])])
            })
            .collect();
        let (sum, shares) = rows.split_last().unwrap();
        assert!(shares.iter().map(|row| row.0).eq(parts), "{told:?}");
        for (_, [white, black]) in &rows {
            assert_eq!(*white, -black, "{told:?}");
        }
        assert!((shares.iter().map(|row| row.1[0]).sum::<f64>() - sum.1[0]).abs() < 0.001, "{told:?}");
    }
    engine.say("position nonsense");
    engine.hear();
    engine.complains(&[("eval", "no position"), ("go perft 3", "no position")]);
}

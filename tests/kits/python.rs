//! The kit for Python, with python-chess.

use std::process::Command;

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
};
use zeitnot_testing::{LONG, has_program, is_installed, soon};

use super::{
    Kit, QUICK_GAME, SHORT_GAME, SHORT_MOVES, explains_wrong_files, explains_wrong_names_and_ports,
    plays_a_whole_game, plays_itself, plays_moves, plays_two_moves,
};
use crate::support::{
    arena::TestArena,
    command::{err, out, zeitnot},
};

const CLIENT: &str = "python3 client.py";
const TEST: &str = "python3 test_my_bot.py";
/// Arena of kits that do not connect.
pub(super) const NOWHERE: &str = "localhost:1";

/// Returns whether Python and python-chess are there.
pub(super) fn has_python() -> bool {
    has_program("python3", "python3") && {
        let there = Command::new("python3").args(["-c", "import chess"]).output().unwrap();
        is_installed("python-chess", there.status.success(), "python3 -m pip install chess")
    }
}

#[test(limit = LONG)]
fn its_own_test_passes_and_its_local_opponent_plays() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    let tested = kit.run(TEST);
    assert_eq!(tested.lines().filter(|line| line.starts_with("ok    ")).count(), 10, "{tested}");
    let game = kit.run("python3 play_local.py random");
    let last = game.lines().last().unwrap();
    assert!(
        ["my_bot.py wins: ", "my_bot.py loses: ", "a draw: "].iter().any(|end| last.starts_with(end)),
        "{game}"
    );
}

/// Of chess, a variant, and a game that python-chess does not know.
#[test(limit = LONG)]
fn its_worker_is_an_engine_of_matches() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    let engine = format!("python3 {} name=kit protocol=lines", kit.path("worker.py").display());
    for game in ["chess", "antichess", "minichess-2026"] {
        let found =
            zeitnot(&["openings", "--variant", game, "--count", "1", "--plies", "2", "--within", "3000"])
                .arg("--output")
                .arg(kit.path("openings.epd"))
                .status();
        assert!(found.unwrap().success());
        let arguments =
            ["match", "--engine", &engine, "--engine", "random", "--games", "2", "--tc", "20+0.2"];
        let mut command = zeitnot(&arguments);
        let output =
            command.args(["--variant", game, "--openings"]).arg(kit.path("openings.epd")).output().unwrap();
        assert!(output.status.success(), "{game}: {}{}", out(&output), err(&output));
        for fault in ["time forfeits", "illegal moves", "crashes"] {
            let line = out(&output).lines().find(|line| line.starts_with(&format!("  {fault} ")));
            assert!(line.is_some_and(|line| line.ends_with("0 of kit, 0 of random")), "{game}: {output:?}");
        }
    }
}

#[test(limit = LONG)]
async fn it_plays_a_whole_game() {
    if has_python() {
        plays_a_whole_game("python", CLIENT, async |_| {}).await;
    }
}

/// One that python-chess does not know, and one in which castling is written in another way.
#[test(limit = LONG)]
async fn it_plays_other_games_of_the_arena() {
    if !has_python() {
        return;
    }
    for game in ["game = 'minichess-2026'", "chess960 = true"] {
        let arena = TestArena::start(&format!("{QUICK_GAME}\n{game}")).await;
        let kit = Kit::write("python", &arena);
        plays_itself(&kit, CLIENT, arena).await;
    }
}

/// Each fault, and what the student reads of its move, as if it were at line 5.
const FAULTS: &[(&str, &str)] = &[
    (
        "        raise ValueError('lost my\\nway')",
        "raised ValueError: lost my way, line 5 of my_bot.py (in choose_move)",
    ),
    ("        return 'e2e5'", "returned 'e2e5', which is not legal here; legal moves: "),
    ("        return None", "returned None: does every path end with `return`?; legal moves: "),
    ("        return 42", "returned 42 (int), which is not a move; legal moves: "),
    (
        "        return [0] * (1 << 40)",
        "needed more than the 1024 MiB that it may use, line 5 of my_bot.py (in choose_move)",
    ),
    ("        sys.exit(3)", "raised SystemExit: 3, line 5 of my_bot.py (in choose_move)"),
    (
        "        return input()",
        "raised EOFError: EOF when reading a line, line 5 of my_bot.py (in choose_move)",
    ),
    ("        os.kill(os.getpid(), 9)", "ended by signal 9"),
    ("        os._exit(3)", "ended with code 3"),
];

/// Returns a bot with a fault in each of its first moves: at line 5, 7, 9 …
fn faulty<'f>(faults: impl IntoIterator<Item = &'f str>) -> String {
    let mut bot = "import os, random, sys\n\ndef choose_move(board, clock):\n".to_owned();
    for (number, fault) in (1..).zip(faults) {
        bot += &format!("    if board.fullmove_number == {number}:\n{fault}\n");
    }
    bot + "    return random.choice(list(board.legal_moves))\n"
}

#[test(limit = LONG)]
async fn a_faulty_function_costs_neither_the_game_nor_the_next_move() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    kit.put("my_bot.py", &faulty(FAULTS.iter().map(|(fault, _)| *fault)));
    let time = "time = '60+0'\nplayers = 2\ngames_per_pair = 1";
    let told = plays_moves(&kit, CLIENT, time, FAULTS.len() + 1).await;
    for ((at, (_, problem)), line) in FAULTS.iter().enumerate().zip(&told) {
        let problem = problem.replace("line 5", &format!("line {}", 5 + 2 * at));
        assert!(
            line.contains(&problem) && line.contains("; played ") && line.ends_with(" instead"),
            "'{line}' does not say '{problem}'"
        );
    }
    assert!(!told[FAULTS.len()].contains("instead"), "{told:#?}");
}

/// Also one that never lets other threads of Python run.
#[test(limit = LONG)]
async fn a_function_that_never_returns_is_shown_with_its_line() {
    if !has_python() {
        return;
    }
    for fault in ["        while True: pass", "        sum(range(1 << 60))"] {
        let [first, second] =
            plays_two_moves("python", CLIENT, "6+0", async |kit| kit.put("my_bot.py", &faulty([fault])))
                .await;
        let problem =
            "Move 1: choose_move took longer than 3.0 s, at line 5 of my_bot.py (in choose_move); played ";
        assert!(first.starts_with(problem), "{first}");
        assert!(!second.contains("instead"), "{second}");
    }
}

#[test(limit = LONG)]
async fn a_function_that_never_returns_does_not_lose_a_short_game_on_time() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    kit.put("my_bot.py", "def choose_move(board, clock):\n    while True: pass\n");
    let told = plays_moves(&kit, CLIENT, SHORT_GAME, SHORT_MOVES).await;
    let problem = "less than 1 s is left after a mistake; played ";
    assert!(told.last().unwrap().contains(problem), "{told:#?}");
}

#[test(limit = LONG)]
async fn wrong_names_and_ports_are_explained() {
    if has_python() {
        explains_wrong_names_and_ports(&Kit::write_for("python", NOWHERE), CLIENT).await;
    }
}

#[test(limit = LONG)]
async fn prints_do_not_disturb_the_protocol() {
    if !has_python() {
        return;
    }
    let prints = "        print('e2e4'); os.system('echo e2e4'); os.write(1, b'e2e4\\n')";
    let [first, second] =
        plays_two_moves("python", CLIENT, "20+0", async |kit| kit.put("my_bot.py", &faulty([prints]))).await;
    assert!(!first.contains("instead") && !second.contains("instead"), "{first}\n{second}");
}

#[test(limit = LONG)]
async fn a_bot_that_cannot_be_loaded_joins_no_tournament() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    for (bot, problem) in [
        (
            "def choose_move(board, clock)\n    pass\n",
            "my_bot.py cannot be read: expected ':', line 1 of my_bot.py",
        ),
        (
            "import nonesuch\n",
            "no module named nonesuch, line 1 of my_bot.py (in <module>): is it misspelt, or not installed?",
        ),
        ("def choose_move(board): pass\n", "my_bot.py has no function choose_move(board, clock)"),
        ("def choose(board): pass\n", "my_bot.py has no function choose_move(board, clock)"),
        (
            "x = 1 / 0\n",
            "my_bot.py cannot be loaded: ZeroDivisionError: division by zero, line 1 of my_bot.py (in <module>)",
        ),
    ] {
        kit.put("my_bot.py", bot);
        let (code, told) = kit.start("python3 client.py alice").ends().await;
        assert_eq!(code, Some(1), "{told:#?}");
        assert!(told.iter().any(|line| line == problem), "{told:#?}");
        assert!(!told.iter().any(|line| line.contains("joined")), "{told:#?}");
    }
    kit.put("chess.py", "raise ImportError\n");
    let (code, told) = kit.start("python3 client.py alice").ends().await;
    let problem = "python-chess is not installed: python3 -m pip install chess";
    assert!(code == Some(1) && told == [problem], "{told:#?}");
}

#[test(limit = LONG)]
async fn wrong_settings_and_positions_are_explained() {
    if has_python() {
        explains_wrong_files(&Kit::write_for("python", NOWHERE), CLIENT, TEST).await;
    }
}

/// While the bot is loaded, and while it thinks.
#[test(limit = LONG)]
async fn ctrl_c_stops_the_test_without_a_traceback() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("python", NOWHERE);
    let waits = "print('waits', flush=True); time.sleep(60)";
    for bot in [waits.to_owned(), format!("def choose_move(board, clock): {waits}")] {
        kit.put("my_bot.py", &format!("import time\n{bot}\n"));
        let test = kit.start(TEST);
        test.tells("waits").await;
        test.signal("INT");
        let (code, told) = test.ends().await;
        assert!(code == Some(0) && told == ["waits", "", "Stopped."], "{told:#?}");
    }
}

#[test(limit = LONG)]
async fn a_refused_join_ends_the_client_with_the_arenas_reason() {
    if !has_python() {
        return;
    }
    let arena = TestArena::start("password = 'sesame'").await;
    let kit = Kit::write("python", &arena);
    let refused = async |name: &str, reason: &str| {
        let (code, told) = kit.start(&format!("{CLIENT} {name}")).ends().await;
        assert_eq!(code, Some(1), "{told:#?}");
        let line = format!("The arena does not let alice in: {reason}");
        assert!(told.len() == 1 && told[0].starts_with(&line), "{told:#?}");
    };
    refused("alice", "Tournament class requires a key: ask the organiser for yours").await;
    refused("alice wrong", "That is not the key for alice").await;
    kit.replace("client.py", "+protocol=1", "+protocol=0");
    let too_old =
        "Your program speaks +protocol=0, this arena +protocol=1: write its files again with zeitnot kit";
    refused("alice sesame", too_old).await;
    kit.replace("settings.txt", "tournament = class", "tournament = other");
    kit.replace("client.py", "+protocol=0", "+protocol=1");
    refused("alice sesame", "Unknown tournament other").await;
    arena.stop().await;
}

#[test(limit = LONG)]
async fn a_lost_connection_is_made_anew() {
    if !has_python() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let kit = Kit::write_for("python", &listener.local_addr().unwrap().to_string());
    kit.replace("settings.txt", "arena = ", "arena = tcp://");
    let client = kit.start("python3 client.py alice key");
    for _ in 0..2 {
        let (stream, _) = soon("a connection", listener.accept()).await.unwrap();
        let mut joins = String::new();
        BufReader::new(stream).read_line(&mut joins).await.unwrap();
        assert_eq!(joins, "JOIN class alice key +moves +protocol=1\n");
    }
    client.tells("Trying again in 2 s; Ctrl-C stops.").await;
    client.signal("INT");
    let (code, told) = client.ends().await;
    assert!(code == Some(0) && told.last().unwrap() == "Stopped.", "{told:#?}");
}

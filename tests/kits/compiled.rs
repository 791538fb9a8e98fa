//! The kits for Java, C++, JavaScript, Rust and C#. Each is built twice: with its default bot, and with one that fails in
//! every move in another way.

use std::{fs, process::Command};

use zeitnot_testing::{LONG, VERY_LONG, has_program, is_installed, until};

use super::{
    Kit, QUICK_GAME, SHORT_GAME, SHORT_MOVES, explains_wrong_files, explains_wrong_names_and_ports,
    plays_itself, plays_moves, python::NOWHERE,
};
use crate::support::arena::TestArena;

/// A kit with its commands, and a bot that fails.
struct Language {
    kit: &'static str,
    /// For the shell.
    build: &'static str,
    test: &'static str,
    local: &'static str,
    client: &'static str,
    /// The student's file.
    bot: &'static str,
    /// The beginning of the function in it, before which the faults are put.
    begin: &'static str,
    faults: &'static str,
    /// The line that the student reads after editing the bot without `build`, where the client's command does not build it.
    stale: Option<&'static str>,
    /// The line that the student reads for each move; empty where the bot's move is played. `{text}` is the number of the bot's line that
    /// has this text.
    problems: &'static [&'static str],
}

/// Time of the game with faults: a function that never returns costs half of what is left.
const TIME: &str = "time = '30+0'\nplayers = 2\ngames_per_pair = 1";

impl Language {
    async fn works(&self) {
        let arena = TestArena::start(QUICK_GAME).await;
        let kit = Kit::write(self.kit, &arena);
        kit.shell(self.build);
        let tested = kit.run(self.test);
        assert_eq!(tested.lines().filter(|line| line.starts_with("ok    ")).count(), 10, "{tested}");
        let game = kit.run(self.local);
        let last = game.lines().last().unwrap();
        assert!([" wins: ", " loses: ", "a draw: "].iter().any(|end| last.contains(end)), "{game}");
        plays_itself(&kit, self.client, arena).await;
        explains_wrong_files(&kit, self.client, self.test).await;

        kit.replace(self.bot, self.begin, &format!("{}{}", self.faults, self.begin));
        if let Some(stale) = self.stale {
            kit.refuses(&format!("{} alice", self.client), stale).await;
            let readme = fs::read_to_string(kit.path("README.md")).unwrap();
            assert!(stale.split(['(', ')']).nth(1).is_some_and(|build| readme.contains(build)), "{stale}");
        }
        kit.shell(self.build);
        explains_wrong_names_and_ports(&kit, self.client).await;

        let told = plays_moves(&kit, self.client, TIME, self.problems.len()).await;
        let bot = fs::read_to_string(kit.path(self.bot)).unwrap();
        for (line, problem) in told.iter().zip(self.problems) {
            let problem = with_lines(problem, &bot);
            assert!(line.contains(&problem), "'{line}' does not say '{problem}': {told:#?}");
            assert_eq!(line.contains("; played "), !problem.is_empty(), "{told:#?}");
        }
        let told = plays_moves(&kit, &format!("HANG=1 {}", self.client), SHORT_GAME, SHORT_MOVES).await;
        assert!(told.iter().all(|line| line.ends_with(" instead")), "{told:#?}");

        let lost = kit.start(&format!("{} alice", self.client));
        lost.tells("Trying again in 2 s; Ctrl-C stops.").await;
        assert!(lost.told()[0].starts_with("Cannot reach the arena at "), "{:#?}", lost.told());
        lost.kill().await;
    }
}

fn with_lines(problem: &str, bot: &str) -> String {
    match problem.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (text, after))) => {
            let number = 1 + bot.lines().position(|line| line.contains(text)).unwrap();
            format!("{before}{number}{after}")
        }
        None => problem.to_owned(),
    }
}

const JAVA: Language = Language {
    kit: "java",
    build: "javac *.java",
    test: "java TestMyBot",
    local: "java PlayLocal",
    client: "java Client",
    bot: "MyBot.java",
    begin: "        Move best = null;\n",
    faults: r#"
        while (System.getenv("HANG") != null) {}
        switch (Integer.parseInt(board.fen().split(" ")[5])) {
            case 1: throw new IllegalStateException("lost my\nway");
            case 2: return new Move(0, 63, (char) 0);
            case 3: return null;
            case 4: System.out.println("e2e4"); break;
            case 5: System.exit(3);
            case 6: long[][] all = new long[4096][]; for (int i = 0; ; i++) { all[i] = new long[1 << 20]; }
            case 7: while (true) { Math.random(); } // endless
        }
"#,
    stale: Some("MyBot.java is newer than MyBot.class: compile it first (javac *.java)"),
    problems: &[
        "chooseMove threw java.lang.IllegalStateException: lost my way, line {lost my} of MyBot.java (in chooseMove)",
        "chooseMove returned 'a1h8', which is not legal here; legal moves: ",
        "chooseMove returned null, which is not legal here; legal moves: ",
        "",
        "the program that runs chooseMove ended with code 3",
        "chooseMove needed more than the 512 MiB that it may use, line {case 6} of MyBot.java (in chooseMove)",
        ", at line {endless} of MyBot.java (in chooseMove)",
        "",
    ],
};

#[test(limit = VERY_LONG)]
async fn java() {
    if has_program("javac", "default-jdk-headless") {
        JAVA.works().await;
    }
}

const CPP: Language = Language {
    kit: "cpp",
    build: "g++ -std=c++17 -O2 -g -o my_bot *.cpp",
    test: "./my_bot test",
    local: "./my_bot local",
    client: "./my_bot client",
    bot: "my_bot.cpp",
    begin: "    double best_score",
    faults: r#"
    while (std::getenv("HANG")) {}
    switch (std::stoi(board.fen().substr(board.fen().rfind(' ')))) {
    case 1: throw std::runtime_error("lost my\nway");
    case 2: return {0, 63, 0};
    case 3: best.from = std::vector<int>().at(7); break;
    case 4: std::puts("e2e4"); break;
    case 5: std::exit(3);
    case 6: static std::vector<char> all(size_t(4) << 30); break;
    case 7: std::abort(); // crash
    case 8: { static std::vector<int> history; history[20000000] = 3; break; } // segfault
    case 9: return {};
    case 10: for (volatile int i = 0;; i = 0) {} // endless
    }
"#,
    stale: Some(
        "my_bot.cpp is newer than ./my_bot: compile it first (g++ -std=c++17 -O2 -g -Wall -o my_bot *.cpp)",
    ),
    problems: &[
        "choose_move threw std::runtime_error: lost my way, at line {lost my} of my_bot.cpp (in choose_move)",
        "choose_move returned 'a1h8', which is not legal here; legal moves: ",
        "choose_move threw std::out_of_range: vector::_M_range_check: __n (which is 7) >= this->size() (which is 0), at line",
        "",
        "the program that runs choose_move ended with code 3",
        "choose_move needed more than the 1024 MiB that it may use, at line",
        "the program that runs choose_move ended by signal: Aborted, at line {crash} of my_bot.cpp (in choose_move)",
        "the program that runs choose_move ended by signal: Segmentation fault, at line {segfault} of my_bot.cpp (in choose_move)",
        "choose_move returned an empty Move, a1a1, which is not legal here; legal moves: ",
        ", at line {endless} of my_bot.cpp (in choose_move)",
        "",
    ],
};

#[test(limit = VERY_LONG)]
async fn cpp() {
    if has_program("g++", "g++") {
        CPP.works().await;
    }
}

const JAVASCRIPT: Language = Language {
    kit: "javascript",
    build: "npm install --prefer-offline --no-audit --no-fund --silent",
    test: "node test_my_bot.js",
    local: "node play_local.js",
    client: "node client.js",
    bot: "my_bot.js",
    begin: "  let bestMove = null;\n",
    faults: r"
  while (process.env.HANG) {}
  switch (board.moveNumber()) {
    case 1: throw new RangeError('lost my\nway');
    case 2: return 'e2e9';
    case 3: return undefined;
    case 4: console.log('e2e4'); break;
    case 5: process.exit(3);
    case 6: for (const all = []; ; ) { all.push(new Array(100000).fill(1.5)); }
    case 7: for (;;) { Math.random(); } // endless
  }
",
    stale: None,
    problems: &[
        "chooseMove threw RangeError: lost my way, line {lost my} of my_bot.js (in chooseMove)",
        "chooseMove returned 'e2e9', which is not legal here; legal moves: ",
        "chooseMove returned undefined: does every path end with `return`?; legal moves: ",
        "",
        "the program that runs chooseMove ended with code 3",
        "chooseMove needed more than the 512 MiB that it may use, at line {case 6} of my_bot.js (in chooseMove)",
        ", at line {endless} of my_bot.js (in chooseMove)",
        "",
    ],
};

#[test(limit = VERY_LONG)]
async fn javascript() {
    if has_chess_js() {
        JAVASCRIPT.works().await;
    }
}

#[test(limit = LONG)]
async fn a_bot_in_javascript_that_cannot_be_loaded_joins_no_tournament() {
    if !has_chess_js() {
        return;
    }
    let kit = Kit::write_for("javascript", NOWHERE);
    let refuses = async |program: &str, why: &str| {
        let (code, told) = kit.start(&format!("node {program}")).ends().await;
        assert!(code == Some(1) && told == [why], "{program}: {told:#?}");
    };
    for program in ["client.js alice", "test_my_bot.js", "play_local.js"] {
        refuses(program, "chess.js is not installed: npm install").await;
    }
    kit.shell(JAVASCRIPT.build);
    kit.put("broken.js", "export const VALUES = {\n");
    for (bot, why) in [
        ("\nlet x = ;\n", "my_bot.js cannot be read: Unexpected token ';', line 2 of my_bot.js"),
        (
            "import { VALUES } from './broken.js';\n",
            "my_bot.js cannot be read: Unexpected end of input, line 2 of broken.js",
        ),
        (
            "import { Ches } from 'chess.js';\n",
            "my_bot.js cannot be read: Named export 'Ches' not found, line 1 of my_bot.js",
        ),
        (
            "\nimport { Chess } from 'ches.js';\n",
            "no module named ches.js, line 2 of my_bot.js: is it misspelt, or not installed?",
        ),
        (
            "const { Chess } = require('chess.js');\n",
            "my_bot.js cannot be loaded: ReferenceError: require is not defined in ES module scope, you can use import \
             instead, line 1 of my_bot.js",
        ),
        ("export const chooseMove = 1;\n", "my_bot.js exports no function chooseMove(board, clock)"),
    ] {
        kit.put("my_bot.js", bot);
        refuses("client.js alice", why).await;
    }
}

#[test(limit = LONG)]
async fn a_worker_in_javascript_ends_without_its_client() {
    if !has_chess_js() {
        return;
    }
    let kit = Kit::write_for("javascript", NOWHERE);
    kit.shell(JAVASCRIPT.build);
    kit.put("my_bot.js", "export function chooseMove() { console.log(`as ${process.pid}`); for (;;); }\n");
    let test = kit.start("node test_my_bot.js");
    let line = test.tells("as ").await;
    test.kill().await;
    let worker = format!("/proc/{}/cmdline", &line["as ".len()..]);
    until("the worker ends", async || fs::read(&worker).unwrap_or_default().is_empty()).await;
}

fn has_chess_js() -> bool {
    let installs = || {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", "chess.js@1"];
        Command::new("npm").args(arguments).current_dir(&folder).status().unwrap().success()
    };
    has_program("node", "nodejs")
        && has_program("npm", "npm")
        && is_installed("chess.js", installs(), "connect to the registry of npm")
}

const RUST: Language = Language {
    kit: "rust",
    build: "cargo build --release --quiet --target-dir target",
    test: "target/release/my-bot test",
    local: "target/release/my-bot local",
    client: "target/release/my-bot client",
    bot: "src/my_bot.rs",
    begin: "    let moves = board.legal_moves();\n    // Chance",
    faults: r#"
    while std::env::var("HANG").is_ok() {}
    match board.fullmoves().get() {
        1 => panic!("lost my\nway"),
        2 => return Move::Put { role: Role::King, to: shakmaty::Square::A1 },
        3 => drop([0; 3][board.legal_moves().len()]), // index
        4 => println!("e2e4"),
        5 => std::process::exit(3),
        6 => drop(std::hint::black_box(vec![1_u8; 4 << 30])),
        7 => assert_ne!(std::hint::black_box(i32::MAX) + 1, 0), // overflow
        8 => loop { std::hint::black_box(()); },
        _ => {}
    }
"#,
    stale: None,
    problems: &[
        "choose_move panicked: lost my way, line {lost my} of src/my_bot.rs",
        "choose_move returned \"K@a1\", which is not legal here; legal moves: ",
        "choose_move panicked: index out of bounds: the len is 3 but the index is ",
        "",
        "the program that runs choose_move ended (exit status: 3)",
        "choose_move needed more than the 1024 MiB that it may use; played ",
        "choose_move panicked: attempt to add with overflow, line {overflow} of src/my_bot.rs",
        "choose_move took longer than ",
        "",
    ],
};

#[test(limit = VERY_LONG)]
async fn rust() {
    if has_program("cargo", "cargo") {
        RUST.works().await;
    }
}

const CSHARP: Language = Language {
    kit: "csharp",
    build: "mcs -debug -out:my_bot.exe *.cs",
    test: "mono --debug my_bot.exe test",
    local: "mono --debug my_bot.exe local",
    client: "mono --debug my_bot.exe client",
    bot: "MyBot.cs",
    begin: "        var best = new Move();\n",
    faults: r#"
        while (Environment.GetEnvironmentVariable("HANG") != null) {}
        switch (int.Parse(board.Fen().Split(' ')[5])) {
            case 1: throw new InvalidOperationException("lost my\nway");
            case 2: return new Move(0, 63);
            case 3: return board.LegalMoves()[500];
            case 4: Console.WriteLine("e2e4"); break;
            case 5: Environment.Exit(3); break;
            case 6: for (var all = new List<long[]>(); ; ) { all.Add(new long[1 << 20]); }
            case 7: for (var all = new List<byte[]>(); ; ) { all.Add(new byte[1000]); }
            case 8: return new Move();
            case 9: while (true) { Chance.Next(); }
        }
"#,
    stale: Some("MyBot.cs is newer than my_bot.exe: compile it first (mcs -debug -out:my_bot.exe *.cs)"),
    problems: &[
        "ChooseMove threw InvalidOperationException: lost my way, line {lost my} of MyBot.cs (in ChooseMove)",
        "ChooseMove returned 'a1h8', which is not legal here; legal moves: ",
        "ChooseMove threw ArgumentOutOfRangeException: ",
        "",
        "the program that runs ChooseMove ended with code 3",
        "ChooseMove needed more than the 512 MiB that it may use, line {case 6} of MyBot.cs (in ChooseMove)",
        " the 512 MiB that it may use",
        "ChooseMove returned an empty Move, a1a1, which is not legal here; legal moves: ",
        "ChooseMove took longer than ",
        "",
    ],
};

#[test(limit = VERY_LONG)]
async fn csharp() {
    if has_program("mcs", "mono-mcs") {
        CSHARP.works().await;
    }
}

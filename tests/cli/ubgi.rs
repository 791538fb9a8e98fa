//! UBGI: under the runner of the NTHU course of 2026, which starts a process for each move and kills it in the end, and
//! under its GUI, which keeps one process.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use zeitnot_rules::{
    ByColor, Color, Game, GameHistory,
    minichess::{MiniChess, Rules},
};

use crate::support::{
    baits::{baits, loses},
    command::{ZEITNOT, err, zeitnot},
    uci_engine::Engine,
};

/// Limit of the runner for each move.
#[derive(Copy, Clone)]
enum Limit {
    /// `--time`: killed when it is up, whatever was said.
    Time(Duration),
    /// `--depth`: waited for.
    Depth(u16),
}

#[derive(Copy, Clone)]
struct Player {
    arguments: &'static [&'static str],
    limit: Limit,
}

const OURS: Player = Player { arguments: &["ubgi"], limit: Limit::Time(Duration::from_millis(200)) };
const TEXTBOOK: Player = Player { arguments: &["ubgi", "--engine", "alpha-beta"], limit: Limit::Depth(3) };

/// Returns the move of a new process, or `None` if it did not answer in time.
fn ask(mut program: Command, limit: Limit, moves: &str) -> Option<String> {
    let mut process =
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    write!(input, "ubgi\nsetoption name Algorithm value minimax\nposition startpos{moves}\nisready\n")
        .unwrap();
    let handshake = output.by_ref().lines().map(Result::unwrap);
    assert!(handshake.take_while(|line| !is_ready(line)).count() < 20);
    let mut said = String::new();
    match limit {
        Limit::Time(time) => {
            writeln!(input, "go movetime {}", time.as_millis()).unwrap();
            thread::sleep(time);
        }
        Limit::Depth(depth) => {
            writeln!(input, "go depth {depth}").unwrap();
            while !said.contains("bestmove") {
                assert_ne!(output.read_line(&mut said).unwrap(), 0, "it has left");
            }
        }
    }
    process.kill().unwrap();
    process.wait().unwrap();
    output.read_to_string(&mut said).unwrap();
    assert!(said.len() < 50 << 10, "{} bytes may be more than the pipe holds", said.len());
    // What was cut off in the middle is no line.
    let whole = &said[..said.rfind('\n').map_or(0, |end| end + 1)];
    let best = whole.lines().rev().find_map(|line| line.strip_prefix("bestmove "))?;
    best.split(' ').next().map(str::to_owned)
}

/// The runner takes `ubgiok`, which comes first, for the answer to `isready`.
fn is_ready(line: &str) -> bool {
    matches!(line, "readyok" | "ubgiok" | "uciok")
}

/// Plays a game from these moves on, of this many plies at most. Panics at a late or illegal move.
fn play(players: ByColor<Player>, opening: &[String], plies: usize) -> GameHistory<MiniChess> {
    let mut line = GameHistory::new(MiniChess::start(Rules::Nthu2026));
    let mut moves = String::new();
    let mut opening = opening.iter().cloned();
    while line.moves().len() < plies && !line.outcome().is_over() {
        let text = opening.next().or_else(|| {
            let Player { arguments, limit } = players[line.now().side_to_move()];
            ask(zeitnot(arguments), limit, &moves)
        });
        let text = text.unwrap_or_else(|| panic!("late after{moves}"));
        let mv = line.now().read(&text).ok().filter(|_| text.len() == 4);
        line.play(mv.unwrap_or_else(|| panic!("illegal: {text} after{moves}")));
        moves = if moves.is_empty() { format!(" moves {text}") } else { format!("{moves} {text}") };
    }
    line
}

#[test]
fn a_process_for_each_move_plays_legally_and_in_time() {
    // More time than in the soak test, as other tests run beside this one.
    let ours = Player { limit: Limit::Time(Duration::from_millis(500)), ..OURS };
    for black in [TEXTBOOK, ours] {
        play(ByColor([ours, black]), &[], 6);
    }
}

/// Four plies by chance, so that no two games are the same.
fn opening(game: usize) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(game as u64);
    let mut line = GameHistory::new(MiniChess::start(Rules::Nthu2026));
    let mut texts = Vec::new();
    for _ in 0..4 {
        let mv = random.choice(line.now().moves()).unwrap();
        texts.push(line.now().write(mv).to_string());
        line.play(mv);
    }
    texts
}

#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: ten minutes"]
fn two_hundred_games_without_a_late_or_illegal_move() {
    let next = AtomicUsize::new(0);
    let worker = || {
        // Each opening twice, with the colours changed.
        while let Some(game) = Some(next.fetch_add(1, Relaxed)).filter(|game| *game < 200) {
            let ours = Color::BOTH[game % 2];
            let mut players = ByColor::both(TEXTBOOK);
            players[ours] = OURS;
            let played = play(players, &opening(game / 2), usize::MAX);
            println!("{game}: we are {ours}, {:?} after {} plies", played.outcome(), played.moves().len());
        }
    };
    thread::scope(|scope| [(); 2].map(|()| scope.spawn(worker)).map(|games| games.join().unwrap()));
}

fn start() -> Engine {
    Engine::start(&["ubgi"])
}

#[test]
fn options_are_listed_in_the_dialect_of_the_question() {
    let mut engine = start();
    for (question, answer) in [("ubgi", "ubgiok"), ("uci", "uciok"), ("ubgi\r", "ubgiok")] {
        engine.say(question);
        let lines = engine.until(answer);
        assert_eq!(lines.last().unwrap(), answer);
        for expected in [
            "id name Zeitnot ",
            "id author ",
            "option name GameName type string default MiniChess",
            "option name BoardWidth type spin default 5 min 1 max 26",
            "option name BoardHeight type spin default 6 min 1 max 26",
            "option name Algorithm type combo default search var search",
            "option name Hash type spin default 16 ",
            "option name Threads type spin default 1 ",
        ] {
            assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}: {lines:?}");
        }
    }
    engine.say("quit\r");
    assert_eq!(engine.wait(), 0);
}

#[test]
fn without_time_to_search_nothing_hangs() {
    let mut engine = start();
    // Nothing is known of a position from before.
    let mut answer = |position: &MiniChess, limit| {
        let lines = engine.answer(&format!("ubginewgame\nposition board {}\ngo {limit}", position.print()));
        position.read(lines.last().unwrap().split(' ').nth(1).unwrap()).unwrap()
    };
    for position in baits(&MiniChess::start(Rules::Nthu2026), 25) {
        let mv = answer(&position, "nodes 1");
        assert!(!loses(&position, mv), "{mv} in {}", position.print());
    }
    // The queen could take a pawn that another protects. A search sees that as well, if there is time for one.
    let position = MiniChess::parse(Rules::Nthu2026, "k..../.p.../..p../...../..Q../K.... W 8").unwrap();
    for limit in ["nodes 1", "movetime 1"] {
        let mv = answer(&position, limit);
        assert!(!loses(&position, mv), "go {limit}: {mv}");
    }
}

#[test]
fn unknown_options_are_accepted_silently() {
    let mut engine = start();
    for option in
        ["Algorithm value minimax", "UseNNUE value true", "NNUEFile value x y z", "Nonsense", "Hash value 18"]
    {
        engine.say(&format!("setoption name {option}"));
        assert!(engine.is_silent(), "{option}");
    }
    engine.say("setoption name Hash value lots");
    assert!(engine.hear().contains("'lots' is not a value for Hash"));
}

#[test]
fn any_board_is_played_and_repetitions_count() {
    let mut engine = start();
    engine.say("ucinewgame\r\nisready\r");
    engine.until("readyok");
    // White takes the queen, Black the rook that took it.
    assert_eq!(
        engine.move_for("position board k..../...../..q../...../..R../....K 0\r\ngo depth 4\r"),
        "c2c4"
    );
    engine.say("position board k..../.p.../..q../...../..R../....K W moves c2c4\r\ngo depth 1");
    let reply = engine.best_move();
    assert_eq!(reply.len(), 4, "{reply}");
    // A pawn that becomes a queen is written like any move.
    assert_eq!(
        engine.move_for("ubginewgame\nposition board k..../....P/...../...../...../K.... 0\ngo depth 3"),
        "e5e6"
    );
    // The side ahead does not play into the fourth occurrence; the start is the first.
    let shuffle = "e1d1 a6b6 d1e1 b6a6";
    let board = "k..../p..../...../...../P...Q/....K 0";
    assert_ne!(
        engine.move_for(&format!("position board {board} moves {shuffle} {shuffle} e1d1 a6b6\ngo depth 5")),
        "d1e1"
    );
    engine.say(
        "position startpos moves b1a3 d6e4 a3b1 e4d6 b1a3 d6e4 a3b1 e4d6 b1a3 d6e4 a3b1 e4d6\ngo movetime 50",
    );
    assert_eq!(engine.best_move().len(), 4, "also where the game is over there are moves");
}

#[test]
fn the_board_is_shown() {
    let mut engine = start();
    engine.say("position startpos moves a2a3\nd");
    let told = engine.until("Checkers:").join("\n");
    assert!(told.starts_with("\n +---+---+---+---+---+\n | k | q | b | n | r | 6\n"), "{told}");
    let end = "Fen: kqbnr/ppppp/...../P..../.PPPP/RNBQK B 1\nSide: black\nKey: ";
    assert!(told.contains(&format!("\n   a   b   c   d   e\n\n{end}")), "{told}");
}

#[test]
fn every_kind_of_go_is_answered() {
    let mut engine = start();
    for go in [
        "",
        " depth 3",
        " nodes 1000",
        " movetime 20",
        " movetime 1",
        " movetime 0",
        " depth 0",
        " wtime 100",
    ] {
        engine.say(&format!("position startpos moves a2a3\ngo{go}"));
        let lines = engine.until("bestmove");
        let depths: Vec<_> = lines.iter().filter(|line| line.starts_with("info depth ")).collect();
        assert!(depths.iter().all(|line| line.contains(" score cp ") && line.contains(" pv ")), "{lines:?}");
        assert!(!depths.is_empty() && !lines.last().unwrap().contains("ponder"), "{lines:?}");
    }
    engine.say("position startpos\ngo infinite");
    engine.until("info depth 3 ");
    engine.say("stop");
    engine.until("bestmove");
    engine.say("stop");
    assert!(engine.is_silent(), "one answer to one question");
}

/// The GUI takes the next `bestmove` for the answer to its last `go`.
#[test]
fn a_new_go_silences_the_search_before_it() {
    let mut engine = start();
    let replies =
        GameHistory::new(MiniChess::parse(Rules::Nthu2026, "kqbnr/ppppp/...../P..../.PPPP/RNBQK 1").unwrap());
    engine.say("go infinite");
    engine.until("info depth 3 ");
    engine.say("setoption name Hash value 8\nposition startpos moves a2a3\ngo infinite\ngo depth 3");
    assert!(replies.now().read(&engine.best_move()).is_ok(), "the answer is to the last one");
    assert!(engine.is_silent());
    // Without another `go`, the position is for later.
    engine.say("position startpos\ngo infinite");
    engine.until("info depth 3 ");
    engine.say("position startpos moves a2a3\nstop");
    let last = engine.until("bestmove").pop().unwrap();
    assert!(replies.now().read(&last["bestmove ".len()..]).is_err(), "{last} was White's move");
    assert!(replies.now().read(&engine.move_for("go depth 2")).is_ok());
    engine.say("go infinite\nposition startpos\nposition startpos moves a2a4\ngo depth 2");
    assert!(engine.until("bestmove").ends_with(&["bestmove 0000".to_owned()]));
    assert!(engine.is_silent());
    // However many there are, they are few in memory; then the search is answered.
    engine.say(&format!(
        "position startpos\ngo infinite\n{}go depth 1",
        "position startpos moves a2a3\n".repeat(70)
    ));
    engine.until("bestmove");
    assert!(replies.now().read(&engine.best_move()).is_ok());
}

#[test]
fn moves_arrive_within_movetime() {
    let mut engine = start();
    for millis in [200, 500] {
        engine.say("position startpos\nisready");
        engine.until("readyok");
        let begin = Instant::now();
        engine.say(&format!("go movetime {millis}"));
        engine.best_move();
        assert!(begin.elapsed() < Duration::from_millis(millis), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_lost_position_has_the_null_move() {
    let mut engine = start();
    for lost in ["....k/...../...../...../...../..... 0", "....k/...../...../p..../P..../..... 0"] {
        assert_eq!(engine.move_for(&format!("position board {lost}\ngo movetime 50")), "0000");
    }
}

/// A short line of forced moves is searched to the last depth there is, and each is told.
#[test]
fn a_search_writes_less_than_a_pipe_holds() {
    let mut engine = start();
    engine.say("position board k..../p..../P..../...../...../K.... 0\ngo movetime 1500");
    let said: usize = engine.until("bestmove").iter().map(|line| line.len() + 1).sum();
    assert!(said < 49 << 10, "{said}");
}

#[test]
fn invalid_input_gets_an_error_each() {
    let mut engine = start();
    engine.complains(&[
        ("hello", ""),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", ""),
        ("position board", ""),
        ("position board kqbnr/ppppp/...../...../PPPPP/RNBQK", ""),
        ("position board kqbnr/ppppp/...../...../PPPPP/RNBQKRRRRRRR 0", ""),
        ("position board kqbnr/ppppp/...../...../PPPPP/RNBQK 0 99999", ""),
        ("position startpos moves a2a4", ""),
        ("position startpos moves a2a3 \u{fe}\u{ff}", ""),
    ]);
    // More moves than any game has: none of our counters minds.
    let shuffle = " b1a3 d6e4 a3b1 e4d6".repeat(20_000);
    assert_eq!(engine.move_for(&format!("position startpos moves{shuffle}\ngo depth 2")).len(), 4);
    engine.input.as_mut().unwrap().write_all(b"\xff\xfe\x00\r\n\r\n  \nstop\nponderhit\n").unwrap();
    engine.until("info string error: unknown message");
    assert!(engine.is_silent());
}

#[test]
fn weaker_engines_are_selected_by_option() {
    for kind in ["random", "minimax", "alpha-beta", "mtd-f"] {
        let mut engine = Engine::start(&["ubgi", "--engine", kind, "--depth", "2"]);
        engine.say("ubgi");
        let option = format!("option name Algorithm type combo default {kind} var {kind}");
        assert!(engine.until("ubgiok").contains(&option));
        assert_eq!(engine.move_for("position startpos\ngo movetime 2000").len(), 4, "{kind}");
    }
    let refused = zeitnot(&["ubgi", "--engine", "boss"]).output().unwrap();
    assert!(!refused.status.success());
    assert!(err(&refused).contains("known: search, mcts, uct, random, minimax"));
}

/// The first example of docs/courses.md, in a shell, from an empty folder; then its script as the runner starts it.
#[test]
fn the_script_of_the_page_is_an_engine_without_arguments() {
    let page = include_str!("../../docs/courses.md");
    let example = |begin: &str| {
        let example = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        example.clone().find(|example| example.contains(begin)).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(ZEITNOT).parent().unwrap().to_str().unwrap();
    let path = format!("{programs}:{}", env::var("PATH").unwrap());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-euc", example("ubgi <<END")]).env("PATH", path).current_dir(folder.path());
    assert!(shell.status().unwrap().success());
    // The runner gets the same path, and neither a search path nor a folder is needed.
    let runner: Vec<_> = example("cli.cli").split_whitespace().collect();
    assert_eq!(runner[..5], ["python3", "-m", "cli.cli", "--white", "build/zeitnot-ubgi"]);
    let script = Command::new(folder.path().join(runner[4]));
    assert_eq!(ask(script, Limit::Depth(2), " moves a2a3").unwrap().len(), 4);
}

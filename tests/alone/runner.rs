//! The program under a referee that speaks through files: whatever happens to it, the last line is a move.

#![cfg(unix)]

use std::{
    fs,
    path::PathBuf,
    process::{Child, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use zeitnot_rules::{
    Game,
    minichess::{MiniChess, Move, Rules},
};
use zeitnot_testing::{LONG, send_signal, wait_for};
use zeitnot_wire::nthu::{Action, print_state};

use crate::support::{
    baits::{baits, loses},
    command::{err, zeitnot},
};

/// A folder with the two files.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn show(&self, position: &MiniChess) {
        fs::write(self.file("state"), print_state(position)).unwrap();
        let _ = fs::remove_file(self.file("action"));
    }

    fn start(&self, options: &[&str]) -> Child {
        let mut command = zeitnot(&["runner"]);
        command.args(options).args(["state", "action"]).current_dir(&self.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, options: &[&str]) -> Output {
        self.start(options).wait_with_output().unwrap()
    }

    /// The lines so far: whole ones only, and legal.
    fn moves(&self, position: &MiniChess) -> Vec<Move> {
        let text = fs::read_to_string(self.file("action")).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with('\n'), "a line is cut off: {text:?}");
        let moves: Vec<_> = text.lines().map(|line| Action::parse(line.as_bytes()).last.unwrap()).collect();
        assert_eq!(Action::parse(text.as_bytes()).groups, moves.len());
        assert!(moves.iter().all(|mv| position.moves().contains(mv)), "{text}");
        moves
    }

    fn note(&self) -> Option<MiniChess> {
        MiniChess::parse(Rules::Nthu2023, &fs::read_to_string(self.file("state.zeitnot")).ok()?).ok()
    }
}

fn after(moves: &[&str]) -> MiniChess {
    moves.iter().fold(MiniChess::start(Rules::Nthu2023), |mut position, mv| {
        position.play(position.read(mv).unwrap());
        position
    })
}

fn error(output: &Output) -> &str {
    let text = err(output);
    assert!(text.lines().count() == 1 && text.starts_with("error: "), "one line: {text:?}");
    text
}

#[test(limit = LONG)]
fn killed_at_any_time_it_leaves_whole_lines_and_a_move() {
    let desk = Desk::new();
    for position in [MiniChess::start(Rules::Nthu2023), after(&["b2b3", "b5b4"]), after(&["b1c3"])] {
        for millis in [0, 1, 5, 20, 100, 500, 1000] {
            desk.show(&position);
            let mut child = desk.start(&[]);
            wait_for("a first move", || (!desk.moves(&position).is_empty()).then_some(()));
            thread::sleep(Duration::from_millis(millis));
            assert!(child.try_wait().unwrap().is_none(), "it thinks for ten seconds");
            send_signal("TERM", child.id());
            let status = child.wait().unwrap();
            assert!(!desk.moves(&position).is_empty());
            // Before it listens, the signal ends it without its doing.
            assert!(status.success() || millis < 500, "{status} after {millis} ms");
        }
    }
}

#[test]
fn the_first_move_is_there_soon_and_better_ones_follow() {
    let desk = Desk::new();
    let position = MiniChess::start(Rules::Nthu2023);
    desk.show(&position);
    let began = Instant::now();
    let mut child = desk.start(&["--time", "2s"]);
    wait_for("a first move", || (!desk.moves(&position).is_empty()).then_some(()));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(child.wait().unwrap().success());
    assert!(began.elapsed() >= Duration::from_secs(2), "it uses its time");
    let moves = desk.moves(&position);
    assert!(moves.windows(2).all(|two| two[0] != two[1]), "only what is new is written");
}

#[test]
fn the_first_line_hangs_nothing() {
    let desk = Desk::new();
    for position in baits(&MiniChess::start(Rules::Nthu2023), 12) {
        desk.show(&position);
        assert!(desk.run(&["--time", "1ms"]).status.success());
        let first = desk.moves(&position)[0];
        assert!(!loses(&position, first), "{first} in {}", position.print());
    }
}

#[test(limit = LONG)]
fn a_mate_ends_it_and_so_does_a_single_move() {
    let desk = Desk::new();
    for (text, mv) in [
        // Two queens against a king.
        ("k..../...../...Q./....Q/...../K.... W 10", None),
        ("k..../...../p..../P..../PP.../KP... W 10", Some("b2b3")),
    ] {
        let position = MiniChess::parse(Rules::Nthu2023, text).unwrap();
        desk.show(&position);
        let began = Instant::now();
        assert!(desk.run(&["--time", "60s"]).status.success());
        assert!(began.elapsed() < Duration::from_secs(40), "{text}");
        let last = desk.moves(&position).pop().unwrap();
        assert!(mv.is_none_or(|mv| position.write(last).to_string() == mv), "{text}: {last:?}");
    }
}

#[test]
fn every_thinker_can_be_had_and_black_sees_its_own_side() {
    let desk = Desk::new();
    let position = after(&["b1c3", "b5b4", "a2a3", "b4c3"]);
    for engine in ["search", "random", "minimax", "alpha-beta", "mtd-f", "forward-pruning"] {
        desk.show(&position);
        assert!(desk.run(&["--time", "300ms", "--engine", engine, "--depth", "4"]).status.success());
        assert!(!desk.moves(&position).is_empty());
    }
    let black = MiniChess::parse(Rules::Nthu2023, "k..../...../.p.../Q..../...../....K B 5").unwrap();
    desk.show(&black);
    let options = ["--time", "1s", "--threads", "2", "--hash", "4"];
    assert!(desk.run(&options).status.success());
    let mv = desk.moves(&black).pop().unwrap();
    assert_eq!(black.write(mv).to_string(), "b4a3", "takes, towards the first rank");
}

#[test]
fn a_state_that_is_none_is_one_line_and_no_action() {
    let desk = Desk::new();
    let missing = desk.run(&[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(error(&missing).starts_with("error: state: No such file"), "{}", error(&missing));
    let no_move =
        print_state(&MiniChess::parse(Rules::Nthu2023, "..k../...../...../...../...../K.... W").unwrap());
    let huge = "9".repeat(1 << 20);
    for (text, told) in [
        ("", "after 0 there is no further one"),
        ("0\n0 0 0", "after 4 there is no further one"),
        ("\u{0}\u{ff}", "after 0 there is no further one"),
        (&huge, "after 0 there is no further one"),
        (&no_move.replacen('6', "0", 1), "white has no legal move in this position"),
    ] {
        fs::write(desk.file("state"), text).unwrap();
        let output = desk.run(&[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(error(&output).contains(told), "{}", error(&output));
    }
    fs::remove_file(desk.file("state")).unwrap();
    fs::create_dir(desk.file("state")).unwrap();
    assert_eq!(desk.run(&[]).status.code(), Some(2));
    assert!(!desk.file("action").exists(), "nothing was begun");
}

#[test]
fn what_stands_behind_the_state_is_passed_over() {
    let desk = Desk::new();
    let position = after(&["a2a3"]);
    for behind in ["junk", "7 7 7\n", "\u{0}\u{0}"] {
        desk.show(&position);
        fs::write(desk.file("state"), print_state(&position) + behind).unwrap();
        assert!(desk.run(&["--time", "50ms"]).status.success());
        assert!(!desk.moves(&position).is_empty());
    }
}

#[test]
fn an_action_that_cannot_be_written_is_told() {
    let desk = Desk::new();
    let position = MiniChess::start(Rules::Nthu2023);
    desk.show(&position);
    fs::create_dir(desk.file("action")).unwrap();
    let output = desk.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).starts_with("error: action: cannot be written: "), "{}", error(&output));
    if fs::exists("/dev/full").unwrap_or(false) {
        fs::remove_dir(desk.file("action")).unwrap();
        std::os::unix::fs::symlink("/dev/full", desk.file("action")).unwrap();
        let output = desk.run(&["--time", "100ms"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(error(&output).contains("No space left"), "{}", error(&output));
    }
}

#[test]
fn a_stale_action_does_not_stay() {
    let desk = Desk::new();
    let position = MiniChess::start(Rules::Nthu2023);
    desk.show(&position);
    fs::write(desk.file("action"), "1 0 2 0\n4 2").unwrap();
    assert!(desk.run(&["--time", "50ms"]).status.success());
    assert!(!desk.moves(&position).is_empty());
}

#[test]
fn plies_are_counted_over_calls_and_from_the_start_of_a_game() {
    let desk = Desk::new();
    let game = ["b1a3", "d6e4", "a3b1", "e4c3", "b2c3", "b5b4", "c3b4", "a5b4", "a2a3", "b4a3"];
    for begin in [0, 1] {
        for plies in (begin..game.len()).step_by(2) {
            let position = after(&game[..plies]);
            desk.show(&position);
            assert!(desk.run(&["--time", "10ms"]).status.success());
            let note = desk.note().unwrap();
            assert_eq!((note.plies(), note.board()), (plies as u16, position.board()));
        }
    }
    // Damage, and a note of another game, cost the count and nothing else.
    let position = after(&game[..6]);
    for stale in [
        "",
        "nonsense\0",
        "k..../...../...../...../...../....K W 900",
        "kqbnr/ppppp/...../...../PPPPP/RNBQK W 99999",
    ] {
        desk.show(&position);
        fs::write(desk.file("state.zeitnot"), stale).unwrap();
        assert!(desk.run(&["--time", "10ms"]).status.success());
        assert!(!desk.moves(&position).is_empty());
        assert!(desk.note().unwrap().plies() < 20, "guessed");
    }
    fs::remove_file(desk.file("state.zeitnot")).unwrap();
    fs::create_dir(desk.file("state.zeitnot")).unwrap();
    desk.show(&position);
    let output = desk.run(&["--time", "10ms"]);
    assert!(output.status.success() && !desk.moves(&position).is_empty());
    assert!(err(&output).starts_with("warning: state.zeitnot: "));
}

#[test]
fn at_the_last_ply_it_takes_what_it_can() {
    let desk = Desk::new();
    // The rook can take a defended pawn, which is what Black is behind: the last move is not answered.
    let black = MiniChess::parse(Rules::Nthu2023, "k...r/...../....P/...P./PP.../....K B 1").unwrap();
    for (plies, takes) in [(49, true), (3, false)] {
        desk.show(&black);
        fs::write(desk.file("state.zeitnot"), black.at_ply(plies).print()).unwrap();
        assert!(desk.run(&["--time", "300ms"]).status.success());
        let last = desk.moves(&black).pop().unwrap();
        assert_eq!(black.write(last).to_string() == "e6e4", takes, "at ply {plies}");
    }
}

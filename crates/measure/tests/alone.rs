//! `zeitnot-measure` as its user sees it: tables, exit codes, and nothing left behind. These tests run one at a time, as
//! the program has the name for that.

#![allow(clippy::unwrap_used)] // helpers outside of test functions, too

#[macro_use]
extern crate zeitnot_testing;

use std::process::{Command, Output};

#[cfg(target_os = "linux")]
use zeitnot_testing::wait_for;

fn measure(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot-measure"));
    command.args(arguments);
    command
}

fn measured(arguments: &[&str]) -> Output {
    measure(arguments).output().unwrap()
}

/// The lines of a table below its header.
fn rows(output: &Output) -> Vec<&str> {
    let table = std::str::from_utf8(&output.stdout).unwrap();
    table.lines().skip_while(|line| !line.starts_with("---")).skip(1).collect()
}

/// A whole number in a group of columns of a row.
#[track_caller]
fn number(row: &str, group: usize, at: usize) -> u32 {
    let words = row.split('|').nth(group).unwrap().split_whitespace();
    words.clone().nth(at).unwrap().parse().unwrap()
}

#[test]
fn each_cell_has_a_row_and_the_last_row_adds_them_up() {
    let output = measured(&[
        "deadline",
        "--budget",
        "100ms",
        "--budget",
        "1+0.1",
        "--games",
        "1",
        "--under",
        "jitter",
        "--seconds",
        "2",
    ]);
    let rows = rows(&output);
    assert_eq!(rows.len(), 3, "{output:?}");
    let cell = |row: &str| row.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cell(rows[0]), ["jitter", "search", "100ms", "1"], "{output:?}");
    assert_eq!(cell(rows[1]), ["jitter", "search", "1+0.1", "1"], "{output:?}");
    let moves = |row| number(row, 1, 0);
    assert!(moves(rows[0]) > 4 && moves(rows[1]) > 4, "{output:?}");
    assert_eq!(moves(rows[2]), moves(rows[0]) + moves(rows[1]), "{output:?}");
}

#[test]
fn budgets_too_short_to_count_never_fail_and_invalid_ones_are_refused() {
    // Below 20 ms nothing counts, however late.
    let output =
        measured(&["deadline", "--budget", "1ms", "--games", "1", "--under", "idle", "--seconds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = measured(&["deadline", "--budget", "tomorrow"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = measured(&["deadline", "--thinker", "stockfish"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("deaf"), "{output:?}");
}

#[test]
fn each_attack_has_a_row_and_honest_players_lose_nothing_on_time() {
    let output = measured(&["arena-attack", "--attack", "users", "--seconds", "1"]);
    let rows = rows(&output);
    assert_eq!(rows.len(), 1, "{output:?}");
    assert!(rows[0].starts_with("users "), "{output:?}");
    // On a busy machine the delays say nothing.
    let [messages, contest, lichess] = [(0, 1), (1, 0), (2, 0)].map(|(group, at)| number(rows[0], group, at));
    assert!(messages > 0 && contest > 0 && lichess > 0, "{output:?}");
    let [lost, broken] = [0, 1].map(|at| number(rows[0], 5, at));
    assert_eq!((lost, broken), (0, 0), "{output:?}");
}

#[test]
fn people_and_the_organiser_are_measured_under_attacks_on_the_page() {
    let attacks = ["game-lists", "tokens", "passwords", "analyses"];
    let chosen: Vec<_> = attacks.iter().flat_map(|attack| ["--attack", attack]).collect();
    let output = measured(&[&["arena-attack", "--seconds", "1"], chosen.as_slice()].concat());
    let rows = rows(&output);
    assert_eq!(rows.len(), attacks.len(), "{output:?}");
    for row in rows {
        let [messages, people, organiser] =
            [(0, 1), (3, 0), (4, 0)].map(|(group, at)| number(row, group, at));
        assert!(messages > 0 && people > 0 && organiser > 0, "{output:?}");
        assert_eq!([0, 1].map(|at| number(row, 5, at)), [0, 0], "{output:?}");
    }
}

#[test]
fn without_the_program_one_line_says_how_to_build_it() {
    let output = measured(&["overhead", "--zeitnot", "/nowhere/zeitnot"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told, "error: /nowhere/zeitnot is missing: run `cargo build --release` first\n");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_measurement_with_what_is_there() {
    use std::{
        io::{BufRead, BufReader, Read},
        process::Stdio,
    };

    use zeitnot_testing::send_signal;

    let arguments = ["spectators", "--games", "1", "--spectators", "1", "--seconds", "600"];
    let mut child = measure(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut told).unwrap();
    send_signal("INT", child.id());
    lines.read_to_string(&mut told).unwrap();
    assert_eq!(told, "1 spectators of one of 1 games\nstopped before the first frame\n");
    assert!(child.wait().unwrap().success());
}

/// Busy processes end with their standard input, which is closed when their parent is gone.
#[cfg(target_os = "linux")]
#[test]
fn a_busy_process_does_not_outlive_its_parent() {
    let mut busy = measure(&["busy"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let id = busy.id();
    // Its processor time is the 14th field, in hundredths of a second.
    wait_for("it is busy", || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        stat.split(' ').nth(13)?.parse::<u32>().ok().filter(|ticks| *ticks > 3)
    });
    drop(busy.stdin.take());
    wait_for("it ends", || busy.try_wait().unwrap());
}

//! Ctrl-C during long commands: each ends with what it has.

#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Output, Stdio},
};

use zeitnot_testing::{LONG, send_signal, wait_for};
use zeitnot_trainer::games::GameFile;

use crate::support::command::{err, out, zeitnot};

fn start(arguments: &[&str], folder: &Path) -> Child {
    let mut command = zeitnot(arguments);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends a signal, and returns what the program says until its end.
fn signal(child: Child, signal: &str) -> Output {
    send_signal(signal, child.id());
    child.wait_with_output().unwrap()
}

/// Presses Ctrl-C, and returns what the program says until its end.
fn interrupt(child: Child) -> Output {
    let output = signal(child, "INT");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

#[test]
fn openings_are_those_found_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openings.epd");
    let arguments = ["openings", "--count", "1000000", "--nodes", "100", "--output", "openings.epd"];
    let child = start(&arguments, folder.path());
    let found = || fs::read_to_string(&file).unwrap_or_default().lines().count();
    wait_for("three openings", || (found() >= 3).then_some(()));
    let output = interrupt(child);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.ends_with('\n') && text.lines().all(|line| line.split(' ').count() == 6), "{text}");
    assert!(err(&output).ends_with(&format!("\n{} of 1000000 openings\n", found())), "{}", err(&output));
    // Each is there as soon as it is found, so also after worse than Ctrl-C.
    let all = zeitnot(&["openings", "--count", "3", "--nodes", "100"]).output().unwrap();
    assert!(text.starts_with(out(&all)), "the same ones in the same order");
}

#[test]
fn positions_are_those_of_the_games_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.bin");
    let child = start(&["datagen", "--nodes", "60", "--threads", "2", "games.bin"], folder.path());
    let size = || fs::metadata(&file).map_or(0, |metadata| metadata.len());
    wait_for("a game", || (size() > 0).then_some(()));
    let output = interrupt(child);
    let games = GameFile::open(&file).unwrap();
    let positions: usize = games.games().map(|game| game.unwrap().len()).sum();
    let told = format!("games.bin: {positions} of 2000000 positions; the same command continues\n");
    assert!(err(&output).ends_with(&told), "{}", err(&output));

    let child = start(&["tune", "--epochs", "100000", "--out", "weights.rs", "games.bin"], folder.path());
    let mut child = child;
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("epoch   2:") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0);
    }
    // It must not block while we wait for its end.
    let rest = std::thread::spawn(move || lines.read_to_string(&mut String::new()));
    interrupt(child);
    rest.join().unwrap().unwrap();
    let weights = fs::read_to_string(folder.path().join("weights.rs")).unwrap();
    assert!(weights.contains("static WEIGHTS: [TaperedScore; COUNT] = ["));
}

/// A scheduler that stops it must not take it for done.
#[test]
fn datagen_that_is_terminated_says_so_by_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let child = start(&["datagen", "--nodes", "60", "games.bin"], folder.path());
    let size = || fs::metadata(folder.path().join("games.bin")).map_or(0, |metadata| metadata.len());
    wait_for("a game", || (size() > 0).then_some(()));
    let output = signal(child, "TERM");
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert!(err(&output).ends_with(" of 2000000 positions; the same command continues\n"), "{output:?}");
}

#[test(limit = LONG)]
fn experiments_are_the_rows_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["study", "horizon", "match", "--depth", "1", "--move-time", "10s", "--csv", "findings.csv"];
    let child = start(&arguments, folder.path());
    let rows = || fs::read_to_string(folder.path().join("findings.csv")).unwrap_or_default();
    // The match takes hours.
    wait_for("the first experiment", || rows().contains("\nhorizon,").then_some(()));
    let output = interrupt(child);
    assert!(out(&output).starts_with("All algorithms where much depends on the depth\n"), "{output:?}");
    assert!(rows().contains("\nhorizon,") && rows().ends_with('\n'), "{}", rows());
}

#[test]
fn bench_tells_what_it_has_measured() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(&["bench", "--depth", "9"], folder.path());
    let mut told = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut told).unwrap();
    let reader = std::thread::spawn(move || {
        lines.read_to_string(&mut told).unwrap();
        told
    });
    interrupt(child);
    let told = reader.join().unwrap();
    assert!(told.contains("stopped after ") && told.ends_with(" nps\n"), "{told}");
}

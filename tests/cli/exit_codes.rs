//! The program as its users meet it: exit codes, one line an error, nothing that panics.

use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::command::{err, out, zeitnot};

fn run(dir: &TempDir, args: &[&str]) -> Output {
    zeitnot(args).current_dir(dir).output().unwrap()
}

const SERVER: &str =
    "[[server]]\nprotocol = 'contest'\naddress = 'ws://localhost:1/play'\ntournament = 't'\nplayer = 'p'\n";

#[test]
fn the_default_configuration_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    let default = run(&dir, &["check", "--default"]);
    std::fs::write(dir.path().join("config.toml"), &default.stdout).unwrap();
    let check = run(&dir, &["check"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    assert!(out(&check).contains("server[0]: contest: play in tournament class"), "{}", out(&check));
}

#[test]
fn endgame_tables_are_looked_at_in_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    let with = |folder: &str| {
        std::fs::write(&file, format!("{SERVER}[engine.syzygy]\nfolders = ['{folder}']\n")).unwrap();
    };
    with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/syzygy"));
    let check = run(&dir, &["check"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    let told = "engine.syzygy: endgame tables of chess: 5 WDL and 5 DTZ tables, up to 3 pieces\n";
    assert!(out(&check).contains(told), "{}", out(&check));
    with("nowhere");
    for command in ["play", "check"] {
        let output = run(&dir, &[command]);
        assert_eq!(output.status.code(), Some(2));
        let told = "error: engine.syzygy: endgame tables: nowhere: cannot be read: ";
        assert!(err(&output).starts_with(told) && err(&output).lines().count() == 1, "{}", err(&output));
    }
}

#[test]
fn a_missing_file_is_one_line_and_the_users_to_mend() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["play", "check"] {
        let output = run(&dir, &[command]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            err(&output),
            "error: config.toml: no such file; make one with: zeitnot check --default > config.toml\n"
        );
    }
}

#[test]
fn check_tells_all_mistakes_and_play_the_first() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("c.toml"), "[bot]\nmax_games = 'x'\n[engine]\nthreads = 'y'\n").unwrap();
    let check = run(&dir, &["check", "--config", "c.toml"]);
    assert_eq!(check.status.code(), Some(2));
    assert_eq!(err(&check).lines().count(), 2, "{}", err(&check));
    assert!(err(&check).lines().all(|line| line.starts_with("error: c.toml:")));
    let play = run(&dir, &["play", "--config", "c.toml"]);
    assert_eq!(play.status.code(), Some(2));
    assert!(err(&play).ends_with("(and 1 more: zeitnot check --config c.toml)\n"), "{}", err(&play));
}

#[test]
fn nowhere_to_play_is_said() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), "").unwrap();
    let play = run(&dir, &["play"]);
    assert_eq!(play.status.code(), Some(2));
    assert_eq!(err(&play), "error: config.toml: nowhere to play: add a [[server]] table\n");
}

#[test]
fn a_token_can_come_from_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), format!("{SERVER}token = 'from ZEITNOT_TOKEN'")).unwrap();
    assert_eq!(run(&dir, &["check"]).status.code(), Some(2));
    let check = zeitnot(&["check"]).current_dir(&dir).env("ZEITNOT_TOKEN", "hush").output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    assert!(out(&check).contains(" with a token\n") && !out(&check).contains("hush"));
}

#[test]
fn usage_errors_and_help() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in [&["fly"][..], &["perft"], &["perft", "99"], &["perft", "1", "8/8 w"], &["play", "--no"]] {
        let output = run(&dir, wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(err(&output).starts_with("error: "), "{wrong:?}: {}", err(&output));
    }
    for help in [&["--help"][..], &["play", "--help"], &["check", "--help"], &["perft", "--help"]] {
        let output = run(&dir, help);
        assert_eq!(output.status.code(), Some(0));
        assert!(out(&output).contains("Examples:"), "{help:?}");
    }
}

#[test]
fn perft_counts_move_by_move() {
    let dir = tempfile::tempdir().unwrap();
    let start = run(&dir, &["perft", "3"]);
    assert!(out(&start).contains("\nNodes searched: 8902\n"));
    assert_eq!(out(&start).lines().take_while(|line| !line.is_empty()).count(), 20);
    let words = ["perft", "1", "8/8/8/8/8/k7/7p/K7", "b", "-", "-", "0", "1"];
    assert!(out(&run(&dir, &words)).contains("h2h1q: 1\n"));
    assert!(out(&run(&dir, &["perft", "0"])).contains("Nodes searched: 1\n"));
}

#[cfg(unix)]
#[test]
fn sigterm_ends_it_well() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), SERVER).unwrap();
    for format in ["human", "json"] {
        let text = format!("{SERVER}[log]\nformat = '{format}'");
        std::fs::write(dir.path().join("config.toml"), text).unwrap();
        let mut child = zeitnot(&["play"]).current_dir(&dir).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut log, &mut line).unwrap();
        assert!(line.contains("Connection refused") && line.contains("reconnecting in"), "{line}");
        assert_eq!(line.starts_with('{'), format == "json");
        Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

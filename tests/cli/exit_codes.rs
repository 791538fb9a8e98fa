//! Exit codes of the program, and errors of one line each.

use std::{
    io::BufRead,
    process::{Output, Stdio},
};

use tempfile::TempDir;
use zeitnot_testing::send_signal;

use crate::support::command::{err, out, zeitnot};

fn run(dir: &TempDir, args: &[&str]) -> Output {
    zeitnot(args).current_dir(dir).output().unwrap()
}

/// A folder with this configuration.
fn folder(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), config).unwrap();
    dir
}

/// Expects that it fails with exit code 2 and these words.
#[track_caller]
fn refused(output: &Output, said: impl Fn(&str) -> bool) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(err(output)), "{}", err(output));
}

const SERVER: &str =
    "[[server]]\nprotocol = 'contest'\naddress = 'ws://localhost:1/play'\ntournament = 't'\nplayer = 'p'\n";

#[test]
fn the_default_configuration_is_valid() {
    let dir = tempfile::tempdir().unwrap();
    let default = run(&dir, &["check", "--default"]);
    std::fs::write(dir.path().join("config.toml"), &default.stdout).unwrap();
    let check = run(&dir, &["check"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    assert!(out(&check).contains("server[0]: contest: play in tournament class"), "{}", out(&check));
}

#[test]
fn endgame_tables_are_checked_at_the_start() {
    let with = |path: &str| folder(&format!("{SERVER}[engine.syzygy]\nfolders = ['{path}']\n"));
    let check = run(&with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/syzygy")), &["check"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    let told = "engine.syzygy: endgame tables of chess: 5 WDL and 5 DTZ tables, up to 3 pieces\n";
    assert!(out(&check).contains(told), "{}", out(&check));
    for command in ["play", "check"] {
        let told = "error: config.toml:6: engine.syzygy: endgame tables: nowhere: cannot be read: ";
        refused(&run(&with("nowhere"), &[command]), |err| err.starts_with(told) && err.lines().count() == 1);
    }
}

#[test]
fn a_missing_configuration_is_reported_in_one_line() {
    let told = "error: config.toml: no such file; make one with: zeitnot check --default > config.toml\n";
    for command in ["play", "check"] {
        refused(&run(&tempfile::tempdir().unwrap(), &[command]), |err| err == told);
    }
}

#[test]
fn check_reports_all_mistakes_and_play_the_first() {
    let dir = folder("[bot]\nmax_games = 'x'\n[engine]\nthreads = 'y'\n");
    refused(&run(&dir, &["check"]), |err| {
        err.lines().count() == 2 && err.lines().all(|line| line.starts_with("error: config.toml:"))
    });
    refused(&run(&dir, &["play"]), |err| err.ends_with("(and 1 more: zeitnot check --config config.toml)\n"));
}

#[test]
fn play_without_a_server_is_refused() {
    let told = "error: config.toml: nowhere to play: add a [[server]] table\n";
    refused(&run(&folder(""), &["play"]), |err| err == told);
}

#[test]
fn a_token_can_come_from_the_environment() {
    let dir = folder(&format!("{SERVER}token = 'from ZEITNOT_TOKEN'"));
    assert_eq!(run(&dir, &["check"]).status.code(), Some(2));
    let check = zeitnot(&["check"]).current_dir(&dir).env("ZEITNOT_TOKEN", "hush").output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    assert!(out(&check).contains(" with a token\n") && !out(&check).contains("hush"));
}

#[test]
fn usage_errors_have_exit_code_two_and_help_has_examples() {
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

/// The whole of what is said of a wrong command line.
#[test]
fn usage_errors_take_two_lines_that_say_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    for (wrong, told) in [
        (
            &["plya"][..],
            "error: unrecognized subcommand 'plya'; tip: a similar subcommand exists: 'play'\nUsage: zeitnot [COMMAND]; ",
        ),
        (
            &["play", "--onec", "3"],
            "error: unexpected argument '--onec' found; tip: a similar argument exists: '--once'\nUsage: zeitnot play ",
        ),
        (&["play", "--once"], "error: a value is required for '--once <N>' but none was supplied\n"),
        (
            &["play", "--once", "x"],
            "error: invalid value 'x' for '--once <N>': expected a whole number, such as 8\n",
        ),
        (
            &["play", "a.toml", "b.toml"],
            "error: unexpected argument 'b.toml' found\nUsage: zeitnot play [OPTIONS] [FILE]; ",
        ),
        (
            &["play", "a.toml", "--config", "b.toml"],
            "error: the argument '[FILE]' cannot be used with '--config <FILE>'\nUsage: ",
        ),
        (
            &["runner", "state"],
            "error: the following required arguments were not provided: <ACTION>\nUsage: zeitnot runner ",
        ),
        (
            &["runner"],
            "error: the following required arguments were not provided: <STATE>, <ACTION>\nUsage: zeitnot ",
        ),
        (&["play", "--no"], "error: unexpected argument '--no' found\nUsage: "),
        (&["study", "--format", "x"], "error: invalid value 'x' for '--format <FORMAT>' [possible values: "),
        (
            &["lichess", "chekc"],
            "error: unrecognized subcommand 'chekc'; tip: a similar subcommand exists: 'check'\nUsage: ",
        ),
    ] {
        refused(&run(&dir, wrong), |err| err.starts_with(told) && err.lines().count() <= 2);
    }
}

#[test]
fn the_configuration_can_be_named_without_an_option() {
    let dir = folder("[engine]\nthreads = 'x'\n");
    let yml = dir.path().join("config.yml");
    std::fs::write(&yml, "token: 'x'\nurl: 'https://lichess.org/'\nengine:\n  dir: '.'\n").unwrap();
    let told = "error: config.yml: is a configuration of lichess-bot or BotLi; convert it: \
        zeitnot import config.yml > config.toml\n";
    for command in ["play", "check", "arena"] {
        refused(&run(&dir, &[command, "config.yml"]), |err| err == told);
        refused(&run(&dir, &[command, "--config", "config.yml"]), |err| err == told);
    }
    std::fs::write(dir.path().join("class.toml"), "").unwrap();
    let check = run(&dir, &["check", "class.toml", "--set", "engine.hash_mib=5"]);
    assert!(out(&check).starts_with("class.toml is valid.\nengine: "), "{check:?}");
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
fn sigterm_ends_the_program_successfully() {
    for format in ["human", "json"] {
        let dir = folder(&format!("{SERVER}[log]\nformat = '{format}'"));
        let mut child = zeitnot(&["play"]).current_dir(&dir).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = std::io::BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // Without the right to raise its priority, the program says that at the same time.
        let line = log.find(|line| !line.contains("INFO")).unwrap();
        assert!(line.contains("Connection refused") && line.contains("reconnecting in"), "{line}");
        assert_eq!(line.starts_with('{'), format == "json");
        send_signal("TERM", child.id());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

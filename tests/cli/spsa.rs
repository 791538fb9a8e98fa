//! `zeitnot spsa` with real games.

#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use zeitnot_testing::wait_for;

use crate::support::command::{ZEITNOT, err, out, zeitnot};

/// Tunes two options that change no move: what is learned comes from openings and colours alone, and is the same each time.
fn tune(folder: &Path, state: &str, more: &[&str]) -> Command {
    let engine = format!("{ZEITNOT} uci option.Hash=1");
    let mut command =
        zeitnot(&["spsa", "--engine", &engine, "--state", state, "--pairs", "4", "--batch", "2"]);
    command.args(["--nodes", "20", "--longest", "6", "--concurrency", "2", "--rate", "0.5", "--seed", "3"]);
    command
        .args(["--tune", "SyzygyProbeDepth=50,1,100,9", "--tune", "BookDepth"])
        .args(more)
        .current_dir(folder);
    command
}

#[test]
fn a_killed_tuning_goes_on_and_ends_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let read = |state: &str| fs::read_to_string(folder.path().join(state)).unwrap_or_default();
    let output = tune(folder.path(), "whole.toml", &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        out(&output).starts_with("option               start     value\nSyzygyProbeDepth        50  "),
        "{output:?}"
    );
    assert!(out(&output).contains("\nFor a match: 'option.SyzygyProbeDepth="), "{output:?}");
    assert!(read("whole.toml").contains("\npairs = 4\n"), "{}", read("whole.toml"));

    let mut child =
        tune(folder.path(), "killed.toml", &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a batch", || read("killed.toml").contains("pairs = ").then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let output = tune(folder.path(), "killed.toml", &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(read("killed.toml"), read("whole.toml"));

    // With other settings it is another tuning.
    let output = tune(folder.path(), "whole.toml", &["--tune", "MultiPV"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("whole.toml: is of another tuning"), "{output:?}");
    let output = tune(folder.path(), "new.toml", &["--tune", "Wings=1"]).output().unwrap();
    assert!(
        err(&output).contains("--tune 'Wings=1': ") && err(&output).contains(" it has: Hash, Threads,"),
        "{output:?}"
    );
}

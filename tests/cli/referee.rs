//! `zeitnot referee` with sound and faulty programs.

#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Instant,
};

use zeitnot_testing::{LONG, send_signal, wait_for};

use crate::support::command::{ZEITNOT, err, out, zeitnot};

fn match_of(folder: &Path, arguments: &[&str]) -> Output {
    referee(folder, arguments).output().unwrap()
}

fn referee(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = zeitnot(&["referee"]);
    command.args(arguments).current_dir(folder);
    command
}

/// Values of these names in each `result` line.
fn results<'o>(output: &'o Output, names: &[&str]) -> Vec<Vec<&'o str>> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let fields = |line: &'o str| {
        let value = |name: &&str| {
            line.split(' ').find_map(|word| word.strip_prefix(*name)?.strip_prefix('=')).unwrap()
        };
        names.iter().map(value).collect()
    };
    out(output).lines().filter(|line| line.starts_with("result ")).map(fields).collect()
}

fn random() -> String {
    format!("{ZEITNOT} runner --engine random")
}

/// Command of a program that does this; `$1` is the state, `$2` the action.
fn does(script: &str) -> String {
    format!("sh -c '{script}' program")
}

#[test]
fn random_games_end_by_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let output = match_of(folder.path(), &["--games", "4", &random(), &random()]);
    let results = results(&output, &["game", "white", "score", "plies", "reason"]);
    assert_eq!(results.len(), 4);
    for (at, result) in results.iter().enumerate() {
        let [number, white, score, plies, reason] = result[..] else { panic!("{result:?}") };
        assert_eq!(number, (at + 1).to_string());
        assert_eq!(white, if at % 2 == 0 { "first" } else { "second" }, "colours alternate");
        match reason {
            "material" => assert_eq!(plies, "50"),
            "king-en-prise" => assert_ne!(score, "1/2-1/2"),
            other => panic!("{other}"),
        }
    }
    let told = out(&output);
    let words = ["Player1 wins\n", "Player2 wins\n", "Draw\n"].map(|word| told.matches(word).count());
    assert_eq!(words.iter().sum::<usize>(), 4);
    assert!(told.contains("\n1 step: ") && told.contains(" → "));
    assert!(told.lines().last().unwrap().starts_with("second "), "the table stands last: {told}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn the_ply_limit_ends_a_game_by_material() {
    let folder = tempfile::tempdir().unwrap();
    // a2-a3, and a5-a4: nothing is taken.
    let white = does("echo 4 0 3 0 >$2");
    let black = does("echo 1 0 2 0 >$2");
    let output = match_of(folder.path(), &["--plies", "2", &white, &black]);
    assert_eq!(results(&output, &["score", "plies", "reason"]), [["1/2-1/2", "2", "material"]]);
    assert!(out(&output).contains("1 step: A2 → A3") && out(&output).contains("2 step: A5 → A4"));
}

#[test]
fn a_program_without_a_legal_move_loses() {
    let folder = tempfile::tempdir().unwrap();
    for (script, reason) in [
        ("true", "no-action"),
        ("echo hello >$2", "no-action"),
        ("echo 4 0 3 >$2", "no-action"),
        ("mkdir $2", "no-action"),
        ("mkfifo $2", "no-action"),
        ("ln -s /dev/zero $2", "no-action"),
        ("head -c 100000 /dev/urandom | tr -d 0-9 >$2", "no-action"),
        ("echo 4 0 3 0 >$2; echo 4 0 2 0 >>$2", "illegal-action"),
        ("echo 4 0 -1 99999 >$2", "illegal-action"),
        ("echo 1 0 2 0 >$2", "illegal-action"),
        ("kill -9 $$", "no-action"),
    ] {
        let output = match_of(folder.path(), &[&does(script), "no-such-program"]);
        assert_eq!(results(&output, &["score", "plies", "reason"]), [["0-1", "0", reason]], "{script}");
        assert!(out(&output).contains("Invalid Action\n"));
        let output = match_of(folder.path(), &[&random(), &does(script)]);
        // Where White must not move a black pawn, Black may.
        if script != "echo 1 0 2 0 >$2" {
            assert_eq!(results(&output, &["score", "plies", "reason"]), [["1-0", "1", reason]], "{script}");
        }
    }
}

#[test]
fn the_last_complete_move_counts() {
    let folder = tempfile::tempdir().unwrap();
    for script in [
        "echo 4 1 3 1 >$2; echo 4 0 3 0 >>$2; echo 4 2 >>$2",
        "echo 4 0 3 0 >$2; echo x 4 1 3 1 >>$2",
        "echo 4 0 3 0 >$2; exit 3",
        "echo 4 0 3 0 >$2; echo result game=1; echo oh >&2; kill -9 $$",
        "sleep 60 & echo 4 0 3 0 >$2",
    ] {
        let began = Instant::now();
        let output = match_of(folder.path(), &["--plies", "1", &does(script), "true"]);
        assert_eq!(results(&output, &["plies", "reason"]), [["1", "material"]], "{script}");
        assert!(out(&output).contains("1 step: A2 → A3 "), "{script}");
        assert!(began.elapsed() < LONG / 2, "it waits for no child of a program");
    }
}

#[test]
fn a_program_that_does_not_end_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    for script in [
        "echo 4 0 3 0 >$2; sleep 60",
        "trap \"\" TERM; echo 4 0 3 0 >$2; while :; do sleep 1; done",
        "trap \"echo 4 0 3 0 >$2; exit\" TERM; while :; do sleep 0.01; done",
    ] {
        let began = Instant::now();
        let phrase = does(script);
        let arguments = ["--time", "300ms", "--plies", "1", &phrase, "true"];
        let output = match_of(folder.path(), &arguments);
        assert_eq!(results(&output, &["plies", "reason"]), [["1", "material"]], "{script}");
        assert!(began.elapsed() < LONG / 2);
    }
}

#[test]
fn a_stale_action_is_not_a_move_and_paths_may_be_odd() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("it's $HOME; \"odd\"");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("action"), "4 0 3 0\n").unwrap();
    let arguments = ["--directory", odd.to_str().unwrap(), "true", "true"];
    let output = match_of(folder.path(), &arguments);
    assert_eq!(results(&output, &["score", "reason"]), [["0-1", "no-action"]]);
    let mover = format!("{ZEITNOT} runner --time 50ms");
    let arguments = ["--plies", "3", "--directory", odd.to_str().unwrap(), &mover, &mover];
    let output = match_of(folder.path(), &arguments);
    assert_eq!(results(&output, &["plies", "reason"]), [["3", "material"]]);
    let left: Vec<_> = fs::read_dir(&odd).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["state.zeitnot"], "the two files go with the match");
}

#[test]
fn ctrl_c_ends_the_match_and_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    let sleeper = does("echo $$ >pid.new; mv pid.new pid; trap \"\" TERM; while :; do sleep 1; done");
    let mut child = referee(folder.path(), &[&sleeper, "true"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = wait_for("the program is started", || fs::read_to_string(folder.path().join("pid")).ok());
    send_signal("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let runs = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    wait_for("the program ends", || (!runs()).then_some(()));
}

#[test]
fn invalid_arguments_are_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let output = match_of(folder.path(), &["--directory", "file", "true", "true"]);
    assert_eq!(output.status.code(), Some(1));
    let told = err(&output);
    assert!(told.starts_with("error: file: cannot be written: ") && told.lines().count() == 1, "{told}");
    for wrong in [&["true"][..], &["--games", "0", "true", "true"], &["--time", "soon", "true", "true"]] {
        assert_eq!(match_of(folder.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
}

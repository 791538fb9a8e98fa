//! `zeitnot match --queue`: tries that are played one after the other, also after a kill.

#![cfg(unix)]

use std::{fs, path::Path, process::Command, process::Stdio};

use zeitnot_testing::wait_for;

use crate::support::{
    arena::tags,
    command::{err, out, zeitnot},
};

fn queue(folder: &Path) -> Command {
    let mut command = zeitnot(&[
        "match",
        "--queue",
        "tries.toml",
        "--log",
        "log.md",
        "--longest",
        "20",
        "--concurrency",
        "2",
    ]);
    command.current_dir(folder);
    command
}

#[test]
fn a_killed_queue_goes_on_and_writes_each_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap_or_default();
    let write = |games: usize| {
        let text = format!(
            "[defaults]\nbase = 'random depth=1'\nsprt = [-1000, -900]\n\
             [[try]]\nname = 'Captures: the better ones first'\nnew = 'alpha-beta depth=1'\ngames = 4\n\
             [[try]]\nname = 'no engine'\nnew = '/nowhere/at/all'\ngames = 2\n\
             [[try]]\nname = 'second'\nnew = 'random depth=1'\ngames = {games}\nsprt = [-1, 1]\n"
        );
        fs::write(folder.path().join("tries.toml"), text).unwrap();
    };
    write(1_000_000);
    let mut child = queue(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let played = || tags(&read("tries.games/second.pgn"), "PlyCount").len();
    wait_for("the second try", || (played() >= 3).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let first = read("log.md");
    assert_eq!(first.lines().count(), 3, "{first}");
    assert!(
        first.contains(" | Captures: the better ones first | ")
            && first.contains(", 1 plies a move, [−1000, −900] | +")
    );

    let games = played() / 2 * 2 + 4;
    write(games);
    let output = queue(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        err(&output).contains("error: try 'no engine': ")
            && err(&output).contains("error: not played to the end: no engine;")
    );
    assert!(
        out(&output).contains("\ntry 3 of 3: second\n") && out(&output).contains("\nresuming after "),
        "{output:?}"
    );
    assert!(!out(&output).contains("Captures"), "done before: {output:?}");
    let log = read("log.md");
    assert!(log.starts_with(&first) && log.lines().count() == 4, "{log}");
    let row = log.lines().last().unwrap();
    assert!(row.contains(&format!(" | second | {games} games, ")) && row.ends_with(" |"), "{row}");

    // Nothing is left but what failed.
    let output = queue(folder.path()).output().unwrap();
    assert!(!out(&output).contains("second") && read("log.md") == log, "{output:?}");
}

//! The README's first command, and `zeitnot arena` with configurations that cannot work.

use std::{fs, net::TcpListener};

use crate::support::command::{err, out, zeitnot};

#[test]
fn the_demo_plays_its_tournament_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let output = zeitnot(&[]).current_dir(&folder).output().unwrap();
    let (out, err) = (out(&output), err(&output));
    assert!(output.status.success(), "{out}{err}");
    assert!(!err.contains("WARN") && !err.contains("ERROR"), "{err}");
    assert!(!out.contains("Out of time") && !err.contains("Out of time"), "{err}");
    for name in ["final standings", "zeitnot-tenth", "sparring"] {
        assert!(out.contains(name), "{out}");
    }
    let pgn = out.lines().find_map(|line| line.strip_prefix("games: ")).expect("no word of the games");
    let games = fs::read_to_string(folder.path().join(pgn)).unwrap();
    assert_eq!(games.matches("[Result ").count(), 6);
}

#[test]
fn an_arena_whose_port_is_taken_fails_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let config =
        format!("[arena]\ntcp = \"{at}\"\n[[arena.tournament]]\nname = \"class\"\ntime = \"3+0.05\"\n");
    fs::write(folder.path().join("config.toml"), config).unwrap();
    let output = zeitnot(&["arena"]).current_dir(&folder).output().unwrap();
    let err = err(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains(&at.to_string()) && err.contains("is another server running there"), "{err}");
}

#[test]
fn an_arena_without_its_table_fails_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "[bot]\nmax_games = 1\n").unwrap();
    let output = zeitnot(&["arena"]).current_dir(&folder).output().unwrap();
    let err = err(&output);
    assert_eq!((output.status.code(), err.lines().count()), (Some(2), 1), "{err}");
    assert!(err.contains("[arena] nowhere to listen"), "{err}");
}

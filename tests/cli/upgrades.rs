//! Files of release 0.1 (`tests/data/files-0.1`), and newer ones: docs/installing.md.

use std::{fs, path::Path, process::Output};

use zeitnot_trainer::games::GameWriter;

use crate::support::{
    command::{err, out, zeitnot},
    program::Program,
};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/files-0.1");

/// A folder with a copy of this file.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(Path::new(KEPT).join(name), folder.path().join(name)).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    zeitnot(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn a_configuration_is_valid_and_a_newer_one_refused_in_one_line() {
    let folder = copy("config.toml");
    let output = run(folder.path(), &["check"]);
    assert!(output.status.success(), "{output:?}");
    let file = folder.path().join("config.toml");
    let newer = fs::read_to_string(&file).unwrap().replace("config_version = 1", "config_version = 2");
    fs::write(&file, newer.replace("[bot]", "[new_table]")).unwrap();
    for command in ["check", "play", "arena"] {
        let output = run(folder.path(), &[command]);
        let told = "error: config.toml:1: config_version: is of a newer zeitnot (version 2, known is 1); update this \
                    one\n";
        assert_eq!((output.status.code(), err(&output)), (Some(2), told));
    }
}

/// The kept file has an earlier schema: who only reads it says so, and an arena that starts brings it up to date.
#[test]
async fn the_results_of_a_database_are_there_once_an_arena_has_started() {
    let folder = copy("arena.db");
    let results = ["arena", "results", "class", "--config", "arena.toml"];
    let text = "[arena]\ntcp = '127.0.0.1:0'\ngames = '.'\ndatabase = 'arena.db'\n\
                [[arena.tournament]]\nname = 'other'\ntime = '1'\n";
    fs::write(folder.path().join("arena.toml"), text).unwrap();
    let output = run(folder.path(), &results);
    assert!(err(&output).contains("older zeitnot"), "{output:?}");
    let arena = Program::arena(folder.path(), text);
    arena.tells("listening on").await;
    arena.signal("INT");
    assert_eq!(arena.ends().await.0, Some(0));
    let output = run(folder.path(), &results);
    assert!(output.status.success(), "{output:?}");
    assert!(out(&output).contains("  1 bob        2 "), "{output:?}");
    assert!(out(&output).contains("games: 2 over"), "{output:?}");
}

#[test]
fn games_for_training_are_continued() {
    for (game, name) in [("chess", "games-chess.bin"), ("tuc", "games-tuc.bin")] {
        let folder = copy(name);
        let file = folder.path().join(name);
        let before = fs::read(&file).unwrap();
        let output =
            run(folder.path(), &["datagen", "--game", game, "--nodes", "60", "--positions", "200", name]);
        assert!(output.status.success(), "{output:?}");
        let after = fs::read(&file).unwrap();
        assert!(after.starts_with(&before) && after.len() > before.len());
        assert!(GameWriter::open_for(&file, game.parse().unwrap()).unwrap().positions() >= 200);
    }
}

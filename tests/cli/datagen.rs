//! `zeitnot datagen` and `zeitnot tune`.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use zeitnot_rules::{GameKind, chess::Chess};
use zeitnot_testing::wait_for;
use zeitnot_trainer::games::{GameFile, PlayedGame, Ply, count_positions};

use crate::support::command::{err, out, zeitnot};

fn datagen(file: &Path, positions: u64, more: &[&str]) -> Command {
    let mut command = zeitnot(&["datagen", "--nodes", "60", "--positions", &positions.to_string()]);
    command.args(more).arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The positions of each game of a file, and nothing besides.
fn games(file: &Path) -> Vec<Vec<Ply>> {
    let games = GameFile::open(file).unwrap();
    assert_eq!(games.bytes(), fs::read(file).unwrap());
    games.games().map(|game| game.unwrap().plies().map(Result::unwrap).collect()).collect()
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_datagen_goes_on_without_torn_games() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.bin");
    let torn = PlayedGame { start: Chess::start(), plies: Vec::new(), result: 1 }.to_bytes();
    let mut before = Vec::new();
    for _ in 0..3 {
        let there = size(&file);
        let child = datagen(&file, u64::MAX, &["--threads", "2"]).spawn().unwrap();
        wait_for("a game", || (size(&file) > there).then_some(()));
        kill(child);
        before = GameFile::open(&file).unwrap().bytes().to_vec();
        // As if the system had not come to write the end of it.
        fs::write(&file, [&before, &torn[..33]].concat()).unwrap();
    }
    let count = || games(&file).iter().map(|plies| plies.len() as u64).sum::<u64>();
    fs::write(&file, &before).unwrap();
    let wanted = count() + 40;
    fs::write(&file, [&before, &torn[..33]].concat()).unwrap();
    assert!(datagen(&file, wanted, &[]).status().unwrap().success());
    assert!(fs::read(&file).unwrap().starts_with(&before), "what was there is still there");
    assert!(count() >= wanted);
    let all = games(&file);
    assert!(all.iter().flatten().any(Ply::is_quiet) && all.iter().flatten().any(|ply| !ply.is_quiet()));
    // As many as are wanted stand there: nothing is left to do.
    let there = size(&file);
    assert!(datagen(&file, wanted, &[]).status().unwrap().success());
    assert_eq!(size(&file), there);
}

#[test]
fn a_seed_gives_the_same_file_on_any_number_of_threads_and_after_interruptions() {
    let folder = tempfile::tempdir().unwrap();
    let play = |name: &str, seed: &str, threads: &str, steps: &[u64]| {
        let file = folder.path().join(name);
        for wanted in steps {
            let more = ["--threads", threads, "--seed", seed, "--shard", "1/2"];
            assert!(datagen(&file, *wanted, &more).status().unwrap().success());
        }
        fs::read(&file).unwrap()
    };
    let at_once = play("first", "7", "1", &[400]);
    assert_eq!(play("threads", "7", "3", &[400]), at_once);
    assert_eq!(play("continued", "7", "2", &[100, 400]), at_once);
    assert_ne!(play("other", "8", "1", &[400]), at_once);
}

#[test]
fn any_game_is_played_and_its_files_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    for game in [GameKind::Minichess2026, GameKind::Tuc, GameKind::Atomic] {
        let file = folder.path().join(game.name());
        let more = ["--threads", "1", "--seed", "3", "--game", game.name()];
        for wanted in [30, 60] {
            assert!(datagen(&file, wanted, &more).status().unwrap().success());
            let (all, quiet) = count_positions(game, &fs::read(&file).unwrap()).unwrap();
            assert!(all >= wanted as usize && quiet > 0 && quiet < all, "{quiet} of {all}, {wanted} wanted");
        }
        let output = datagen(&file, 90, &[]).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((output.status.code(), err(&output).lines().count()), (Some(2), 1), "not chess");
    }
}

#[test]
fn unreadable_and_unwritable_files_are_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |args: &[&str], code: i32| {
        let output = zeitnot(args).output().unwrap();
        assert_eq!((output.status.code(), err(&output).lines().count()), (Some(code), 1), "{output:?}");
    };
    let nowhere = folder.path().join("none/games.bin");
    fails(&["datagen", nowhere.to_str().unwrap()], 1);
    fails(&["tune", nowhere.to_str().unwrap()], 1);
    let garbage = folder.path().join("garbage");
    fs::write(&garbage, [0xff; 64]).unwrap();
    fails(&["tune", garbage.to_str().unwrap()], 2);
    fails(&["datagen", garbage.to_str().unwrap()], 2);
    assert_eq!(fs::read(&garbage).unwrap(), [0xff; 64]);
    // No quiet positions.
    fs::write(&garbage, "").unwrap();
    fails(&["tune", garbage.to_str().unwrap()], 2);
}

#[test]
fn tune_writes_a_source_file_of_weights() {
    let folder = tempfile::tempdir().unwrap();
    let [file, weights] = ["games.bin", "weights.rs"].map(|name| folder.path().join(name));
    assert!(datagen(&file, 300, &[]).status().unwrap().success());
    let output = zeitnot(&["tune", "--epochs", "3", "--out"]).args([&weights, &file]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = out(&output);
    assert_eq!(told.lines().filter(|line| line.starts_with("epoch")).count(), 3, "{told}");
    let text = fs::read_to_string(&weights).unwrap();
    assert!(text.contains("static WEIGHTS: [TaperedScore; COUNT] = ["));
    assert!(text.lines().all(|line| line.len() <= 150));
}

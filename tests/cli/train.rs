//! `zeitnot train`.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use zeitnot_engine::{
    eval::small_net::{Column, NetInputs, SmallNet},
    net::Net,
};
use zeitnot_rules::{
    Game,
    chess::{Chess, VariantPosition},
    minichess::MiniChess,
    tuc::Tuc,
};
use zeitnot_testing::send_signal;
use zeitnot_trainer::games::{GameWriter, PlayedGame};

use crate::support::command::{err, out, zeitnot};

/// Games of random moves with random scores.
fn write_games(path: &Path, games: usize) {
    let mut random = fastrand::Rng::with_seed(4);
    let mut writer = GameWriter::open(path).unwrap();
    for _ in 0..games {
        let start = Chess::start();
        let mut now = start.clone();
        let mut plies = Vec::new();
        while let Some(mv) = random.choice(now.moves()).filter(|_| plies.len() < 60) {
            plies.push((mv, random.i16(-300..=300)));
            now.play(mv);
        }
        writer.append(&PlayedGame { start, plies, result: random.u8(0..=2) }).unwrap();
    }
}

fn train(folder: &Path, more: &[&str]) -> Command {
    let mut command = zeitnot(&["train", "games.bin", "--hidden", "32", "--threads", "2"]);
    command.args(["--batch", "64", "--superbatch", "5"]).args(more).current_dir(folder);
    command
}

fn folder_with_games() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    write_games(&folder.path().join("games.bin"), 20);
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn training_writes_a_net_that_the_engine_reads() {
    let (_kept, folder) = folder_with_games();
    let output = train(&folder, &["--superbatches", "3"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<_> = out(&output).lines().collect();
    assert_eq!(lines[0], "20 games, 1200 moves");
    assert!(
        lines[3].starts_with("superbatch   3: loss 0.") && lines[3].contains(", held out 0."),
        "{lines:?}"
    );
    assert!(lines[4].starts_with("chess.net: held out 0.") && lines.len() == 5, "{lines:?}");
    let net = fs::read(folder.join("chess.net")).unwrap();
    assert_eq!(Net::open(&folder.join("chess.net")).unwrap().shape().hidden(), 32);

    // The checkpoint gives the same net again, and has nothing left to learn.
    for more in [&["--export"][..], &[]] {
        fs::remove_file(folder.join("chess.net")).unwrap();
        let output = train(&folder, &[&["--superbatches", "3"], more].concat()).output().unwrap();
        assert_eq!(out(&output).lines().collect::<Vec<_>>(), [lines[0], lines[4]]);
        assert_eq!(fs::read(folder.join("chess.net")).unwrap(), net);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_continues() {
    let (_kept, folder) = folder_with_games();
    // More than can be done before the interrupt.
    let long = ["--superbatches", "200000"];
    for round in 0..2 {
        let mut child = train(&folder, &long).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let first = lines.find(|line| line.starts_with("superbatch")).unwrap();
        assert_eq!(first.starts_with("superbatch   1:"), round == 0, "{first}");
        send_signal("INT", child.id());
        let last = lines.last().unwrap();
        assert!(last.starts_with("chess.net.checkpoint: "), "{last}");
        assert!(last.ends_with(" of 1000000 batches; the same command continues"), "{last}");
        assert!(child.wait().unwrap().success() && !folder.join("chess.net").exists());
    }
    let output = train(&folder, &["--superbatches", "200000", "--export"]).output().unwrap();
    assert!(output.status.success() && folder.join("chess.net").exists(), "{output:?}");
}

#[test]
fn faults_are_reported_in_one_line() {
    let (_kept, folder) = folder_with_games();
    let fails = |more: &[&str], code: i32, told: &str| {
        let output = train(&folder, more).output().unwrap();
        assert_eq!((output.status.code(), err(&output).lines().count()), (Some(code), 1), "{output:?}");
        assert!(err(&output).contains(told), "{}", err(&output));
    };
    fails(&["none.bin"], 1, "none.bin");
    fs::write(folder.join("garbage.bin"), [0xff; 640]).unwrap();
    fails(&["garbage.bin"], 2, "garbage.bin");
    fails(&["--export"], 2, "chess.net.checkpoint: no such checkpoint");
    fs::write(folder.join("chess.net.checkpoint"), "something else").unwrap();
    fails(&[], 2, "chess.net.checkpoint: not a checkpoint of `zeitnot train`");
    fails(&["--superbatches", "1", "--checkpoint", "none/here"], 1, "none/here");
}

#[test]
fn a_small_net_is_trained_on_games_of_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| zeitnot(args).current_dir(folder.path()).output().unwrap();
    let few = ["--nodes", "30", "--positions", "300", "--threads", "1", "--seed", "1"];
    let sizes = [
        ("minichess-2026", SmallNet::<[Column; MiniChess::INPUTS]>::BYTES),
        ("tuc", SmallNet::<[Column; Tuc::INPUTS]>::BYTES),
        ("crazyhouse", SmallNet::<[Column; VariantPosition::INPUTS]>::BYTES),
    ];
    for (game, size) in sizes {
        assert!(run(&[&["datagen", "--game", game, game][..], &few].concat()).status.success());
        let output = run(&["train-small", game, "--epochs", "3", "--batch", "64", game]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(out(&output).lines().filter(|line| line.starts_with("epoch")).count(), 3);
        let net = fs::read(folder.path().join("small.net")).unwrap();
        assert_eq!(net.len(), size);
    }
    for wrong in [["minichess-2023", "minichess-2026"], ["atomic", "crazyhouse"], ["chess", "tuc"]] {
        let output = run(&["train-small", wrong[0], wrong[1]]);
        assert_eq!((output.status.code(), err(&output).lines().count()), (Some(2), 1), "{output:?}");
    }
}

//! `zeitnot relabel`.

#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use zeitnot_engine::Score;
use zeitnot_rules::{Game, chess::Chess};
use zeitnot_testing::wait_for;
use zeitnot_trainer::games::{GameFile, GameWriter, PlayedGame, Ply, UNSCORED};

use crate::support::command::{ZEITNOT, err, zeitnot};

/// A score that no engine gives.
const UNKNOWN: i16 = 12_345;

/// Writes random games of a few moves.
fn write(path: &Path, games: usize) {
    let mut random = fastrand::Rng::with_seed(9);
    let mut file = GameWriter::open(path).unwrap();
    for _ in 0..games {
        let start = Chess::start();
        let mut plies = Vec::new();
        let mut now = start.clone();
        for _ in 0..12 {
            let Some(mv) = random.choice(now.moves()) else { break };
            plies.push((mv, UNKNOWN));
            now.play(mv);
        }
        file.append(&PlayedGame { start, plies, result: 1 }).unwrap();
    }
}

fn plies(path: &Path) -> Vec<Vec<Ply>> {
    let file = GameFile::open(path).unwrap();
    file.games().map(|game| game.unwrap().plies().map(Result::unwrap).collect()).collect()
}

fn relabel(from: &Path, to: &Path, teacher: &str, more: &[&str]) -> Command {
    let mut command = zeitnot(&["relabel", "--teacher", teacher]);
    command.args(more).args([from, to]).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The games are the same, and all quiet positions and no others have new scores.
fn is_taught(from: &Path, to: &Path) {
    let before = plies(from);
    let after = plies(to);
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
        assert_eq!((&before.position, before.mv), (&after.position, after.mv));
        assert_eq!(after.score != UNKNOWN, before.is_quiet(), "{}", before.position.print());
    }
}

#[test]
fn quiet_positions_get_the_teachers_scores_and_a_killed_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    write(&from, 12);
    let teacher = format!("{ZEITNOT} uci");
    let size = || fs::metadata(&to).map_or(0, |metadata| metadata.len());
    let mut killed = relabel(&from, &to, &teacher, &["--nodes", "2000", "--threads", "1"]).spawn().unwrap();
    wait_for("a game", || (size() > 0).then_some(()));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let there = GameFile::open(&to).unwrap().bytes().to_vec();
    fs::write(&to, [&there, &there[..33]].concat()).unwrap();

    let more = ["--nodes", "500", "--threads", "2"];
    let output = relabel(&from, &to, &teacher, &more).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read(&to).unwrap().starts_with(&there), "what was there is still there");
    is_taught(&from, &to);

    let other = folder.path().join("other");
    write(&other, 1);
    let output = relabel(&other, &to, &teacher, &more).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("holds other games than"), "{}", err(&output));
}

#[test]
fn a_position_with_a_capture_to_make_is_not_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    let mut file = GameWriter::open(&from).unwrap();
    for fen in ["4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/8/4P3/3q4/8/4K3 w - - 0 1"] {
        let start = Chess::parse(fen).unwrap();
        let mv = start.read("e1f2").unwrap();
        file.append(&PlayedGame { start, plies: vec![(mv, UNKNOWN)], result: 1 }).unwrap();
    }
    drop(file);
    let output = relabel(&from, &to, &format!("{ZEITNOT} uci"), &["--nodes", "500"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let scores: Vec<_> = plies(&to).concat().iter().map(|ply| ply.score).collect();
    assert!(scores[0] == UNSCORED && ![UNSCORED, UNKNOWN].contains(&scores[1]), "{scores:?}");
}

#[test]
fn an_iteration_that_the_limit_cut_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    let start = Chess::start();
    let mv = start.read("e2e4").unwrap();
    GameWriter::open(&from)
        .unwrap()
        .append(&PlayedGame { start, plies: vec![(mv, UNKNOWN)], result: 1 })
        .unwrap();
    let teacher = "sh -c 'while read -r line; do case $line in uci) echo uciok;; isready) echo readyok;; go*)
        for said in 1:5 2:3 2:7 3:900; do echo info depth ${said%:*} score cp ${said#*:} pv e2e4; done
        echo bestmove e2e4;; quit) exit;; esac; done'";
    let output = relabel(&from, &to, teacher, &["--threads", "1"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(plies(&to)[0][0].score, Score::cp(7).to_bits());
}

#[test]
fn a_teacher_that_dies_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    write(&from, 2);
    // After some lines its input ends, and so does the engine.
    let teacher = format!("sh -c 'sed -u 12q | exec {ZEITNOT} uci'");
    let output = relabel(&from, &to, &teacher, &["--nodes", "500", "--threads", "1"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    is_taught(&from, &to);

    // One that always dies is an error, and nothing is lost.
    let output = relabel(&from, &folder.path().join("none"), "sh -c 'exit 1'", &[]).output().unwrap();
    assert_eq!((output.status.code(), err(&output).lines().count()), (Some(1), 1), "{output:?}");
}

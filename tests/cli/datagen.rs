//! `zeitnot datagen` and `zeitnot tune`.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use zeitnot_engine::training::Record;
use zeitnot_rules::{Game, Tactics};

use crate::support::{
    command::{err, out, zeitnot},
    wait::wait_for,
};

fn datagen(file: &Path, positions: u64, more: &[&str]) -> Command {
    let mut command = zeitnot(&["datagen", "--nodes", "60", "--positions", &positions.to_string()]);
    command.args(more).arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Every record of a file, and nothing besides.
fn records(file: &Path) -> Vec<Record> {
    let bytes = fs::read(file).unwrap();
    let (records, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "{} bytes too many", rest.len());
    records.iter().map(|&bytes| Record(bytes)).collect()
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_datagen_goes_on_without_torn_records() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quiet.bin");
    let mut before = Vec::new();
    for _ in 0..3 {
        let there = size(&file);
        let child = datagen(&file, u64::MAX, &["--threads", "2"]).spawn().unwrap();
        wait_for("a game", || (size(&file) > there).then_some(()));
        kill(child);
        // As if the system had not come to write the end of it.
        let mut bytes = fs::read(&file).unwrap();
        let whole = bytes.len() / Record::SIZE * Record::SIZE;
        before = bytes[..whole].to_vec();
        bytes.extend_from_slice(&[1; 7]);
        fs::write(&file, bytes).unwrap();
    }
    let wanted = before.len() as u64 / 32 + 40;
    assert!(datagen(&file, wanted, &[]).status().unwrap().success());
    let records = records(&file);
    assert_eq!(records.len() as u64, wanted);
    assert!(fs::read(&file).unwrap().starts_with(&before), "what was there is still there");
    for record in &records {
        let (position, judgement) = record.unpack().unwrap();
        assert!(!position.is_check() && position.piece_count() >= 3 && judgement.result <= 2);
    }
    // As many as are wanted stand there: nothing is left to do.
    assert!(datagen(&file, wanted, &[]).status().unwrap().success());
    assert_eq!(size(&file), 32 * wanted);
}

#[test]
fn a_seed_gives_the_same_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, other] = ["first", "second", "other"].map(|name| folder.path().join(name));
    for (file, seed) in [(&first, "7"), (&second, "7"), (&other, "8")] {
        let status = datagen(file, 60, &["--threads", "1", "--seed", seed]).status().unwrap();
        assert!(status.success());
    }
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    assert_ne!(fs::read(&first).unwrap(), fs::read(&other).unwrap());
}

#[test]
fn unreadable_and_unwritable_files_are_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |args: &[&str], code: i32| {
        let output = zeitnot(args).output().unwrap();
        assert_eq!((output.status.code(), err(&output).lines().count()), (Some(code), 1), "{output:?}");
    };
    let nowhere = folder.path().join("none/quiet.bin");
    fails(&["datagen", nowhere.to_str().unwrap()], 1);
    fails(&["tune", nowhere.to_str().unwrap()], 1);
    let garbage = folder.path().join("garbage");
    fs::write(&garbage, [0xff; 64]).unwrap();
    fails(&["tune", garbage.to_str().unwrap()], 2);
}

#[test]
fn tune_writes_a_source_file_of_weights() {
    let folder = tempfile::tempdir().unwrap();
    let [file, weights] = ["quiet.bin", "weights.rs"].map(|name| folder.path().join(name));
    assert!(datagen(&file, 300, &[]).status().unwrap().success());
    let output = zeitnot(&["tune", "--epochs", "3", "--out"]).args([&weights, &file]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = out(&output);
    assert_eq!(told.lines().filter(|line| line.starts_with("epoch")).count(), 3, "{told}");
    let text = fs::read_to_string(&weights).unwrap();
    assert!(text.contains("static WEIGHTS: [TaperedScore; COUNT] = ["));
    assert!(text.lines().all(|line| line.len() <= 150));
}

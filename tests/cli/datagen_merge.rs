//! `zeitnot datagen merge`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use zeitnot_trainer::games::{GameFile, GameWriter};

use crate::support::command::{err, out, zeitnot};

/// Plays games of a shard.
fn shard(folder: &Path, shard: &str, more: &[&str]) -> PathBuf {
    let file = folder.join(format!("{}.bin", shard.replace('/', "-of-")));
    let mut command =
        zeitnot(&["datagen", "--nodes", "60", "--positions", "150", "--seed", "7", "--shard", shard]);
    assert!(command.args(more).arg(&file).stdout(Stdio::null()).status().unwrap().success());
    file
}

fn merge(folder: &Path, arguments: &[&str]) -> Output {
    zeitnot(&["datagen", "merge"]).args(arguments).current_dir(folder).output().unwrap()
}

fn count(file: &Path) -> usize {
    GameFile::open(file).unwrap().games().map(Result::unwrap).count()
}

/// It fails with this message and nothing else, and nothing is written.
#[track_caller]
fn fails(folder: &Path, arguments: &[&str], message: &str) {
    let files = || fs::read_dir(folder).unwrap().count();
    let there = files();
    let output = merge(folder, arguments);
    assert_eq!((output.status.code(), err(&output)), (Some(2), &*format!("error: {message}\n")));
    assert_eq!(files(), there);
}

#[test]
fn shards_share_no_game_and_copies_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let files = ["1/3", "2/3", "3/3"].map(|of| shard(here, of, &[]));
    let [first, second, third] = files.each_ref().map(|file| count(file));
    let output = merge(here, &["all.bin", "1-of-3.bin", "2-of-3.bin", "3-of-3.bin"]);
    assert!(output.status.success(), "{output:?}");
    let all = here.join("all.bin");
    assert_eq!(fs::read(&all).unwrap(), files.each_ref().map(|file| fs::read(file).unwrap()).concat());
    let positions = GameWriter::open(&all).unwrap().positions();
    let told = format!(
        "1-of-3.bin: {first} games, 0 duplicates\n2-of-3.bin: {second} games, 0 duplicates\n3-of-3.bin: {third} games, 0 \
         duplicates\nall.bin: {} games, {positions} positions\n",
        first + second + third
    );
    assert_eq!(out(&output), told);

    // A copy, and a file that holds both.
    fs::copy(&files[0], here.join("copy.bin")).unwrap();
    let both = [fs::read(&files[1]).unwrap(), fs::read(&files[2]).unwrap()].concat();
    fs::write(here.join("both.bin"), &both).unwrap();
    let output = merge(here, &["again.bin", "1-of-3.bin", "copy.bin", "3-of-3.bin", "both.bin"]);
    let told = out(&output);
    assert!(told.contains(&format!("copy.bin: {first} games, {first} duplicates: a copy?\n")), "{told}");
    assert!(told.contains(&format!("both.bin: {} games, {third} duplicates\n", second + third)), "{told}");
    assert_eq!(count(&here.join("again.bin")), first + second + third);
}

#[test]
fn games_of_other_rules_are_merged_and_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    shard(here, "1/2", &["--game", "tuc"]);
    shard(here, "2/2", &["--game", "tuc"]);
    shard(here, "1/1", &[]);
    let output = merge(here, &["tuc.bin", "1-of-2.bin", "2-of-2.bin"]);
    assert!(output.status.success() && out(&output).contains(" 0 duplicates\n"), "{output:?}");
    let wrong = "1-of-1.bin: holds games of chess, those before it are of tuc";
    fails(here, &["all.bin", "tuc.bin", "1-of-1.bin"], wrong);
}

#[test]
fn a_damaged_cut_or_repeated_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let file = shard(here, "1/1", &[]);
    let whole = fs::read(&file).unwrap();
    let games = count(&file);
    fs::write(here.join("cut.bin"), &whole[..whole.len() - 3]).unwrap();
    let cut = format!(
        "cut.bin: ends within a game, behind {} others; run its `zeitnot datagen` again, which continues, or add \
         --cut to leave that game out",
        games - 1
    );
    fails(here, &["all.bin", "cut.bin"], &cut);
    let mut damaged = whole.clone();
    damaged[32] ^= 0x3f;
    fs::write(here.join("damaged.bin"), &damaged).unwrap();
    let illegal = "damaged.bin: holds a game with an illegal move, behind 0 others; generate it anew";
    fails(here, &["all.bin", "1-of-1.bin", "damaged.bin"], illegal);
    fails(
        here,
        &["all.bin", "1-of-1.bin", "./1-of-1.bin"],
        "./1-of-1.bin: is given twice; name each file once",
    );
    let there = "1-of-1.bin: is there already; choose another name, or remove it";
    fails(here, &["1-of-1.bin", "cut.bin"], there);
    assert_eq!(fs::read(&file).unwrap(), whole);

    let output = merge(here, &["--cut", "all.bin", "cut.bin"]);
    let told = format!("cut.bin: {} games, 0 duplicates, and a cut one\n", games - 1);
    assert!(output.status.success() && out(&output).starts_with(&told), "{output:?}");
    assert!(whole.starts_with(&fs::read(here.join("all.bin")).unwrap()));
}

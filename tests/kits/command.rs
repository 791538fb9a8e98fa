//! `zeitnot kit` itself.

use std::fs;

use crate::support::command::{err, out, zeitnot};

#[test]
fn kits_are_listed_without_arguments() {
    let listed = zeitnot(&["kit"]).output().unwrap();
    assert!(listed.status.success(), "{}", err(&listed));
    for folder in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/kits")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "shared"
                || out(&listed).contains(&format!("\n{name} "))
                || out(&listed).starts_with(&name),
            "{name}"
        );
    }
}

#[test]
fn a_kit_is_written_with_the_teachers_settings() {
    let folder = tempfile::tempdir().unwrap();
    let kit = folder.path().join("bots/mine");
    let written = zeitnot(&["kit", "python"])
        .arg(&kit)
        .args(["--arena", "tcp://arena.example:8000", "--tournament", "course"])
        .output()
        .unwrap();
    assert!(written.status.success(), "{}", err(&written));
    assert!(out(&written).ends_with("\n  python3 client.py NAME\n"), "{}", out(&written));
    let settings = fs::read_to_string(kit.join("settings.txt")).unwrap();
    assert!(settings.contains("\narena = arena.example:8000\ntournament = course\n"), "{settings}");
    assert!(kit.join("LICENSE").is_file());
}

#[test]
fn a_folder_with_files_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("my_bot.py"), "mine").unwrap();
    let refused = zeitnot(&["kit", "python"]).arg(folder.path()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).ends_with("exists and is not empty; name a new folder\n"), "{}", err(&refused));
    assert_eq!(fs::read_to_string(folder.path().join("my_bot.py")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn wrong_arguments_are_refused() {
    for (arguments, why) in [
        (&["kit", "cobol", "bot"][..], "invalid value 'cobol'"),
        (&["kit", "python"], "<FOLDER>"),
        (&["kit", "python", "bot", "--arena", "localhost"], "expected HOST:PORT, such as localhost:8000"),
        (&["kit", "python", "bot", "--tournament", "a class"], "'a class' is not a name"),
    ] {
        let refused = zeitnot(arguments).current_dir(std::env::temp_dir()).output().unwrap();
        assert!(!refused.status.success() && err(&refused).contains(why), "{arguments:?}: {}", err(&refused));
    }
}

//! The samples of docs/lichess.md can be copied as they are: with the files and variables of its first steps, each can
//! be played with.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::{page, shown};
use crate::support::command::{err, zeitnot};

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn samples_for_lichess_need_nothing_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    write(&here("lichess.token"), "lip_first", 0o600);
    write(&here("first.token"), "lip_first", 0o600);
    write(&here("pychess.token"), "any", 0o600);
    // The sample says that it must be installed.
    let engine = format!("#!/bin/sh\nexec '{}' uci\n", crate::support::command::ZEITNOT);
    write(&here("stockfish"), &engine, 0o755);
    let paths = std::env::var("PATH").unwrap_or_default();
    let samples = shown(&page("docs/lichess.md"));
    assert!(samples.len() > 8);
    for sample in samples {
        fs::write(here("config.toml"), &sample).unwrap();
        let check = zeitnot(&["check"])
            .current_dir(&folder)
            .env("PATH", format!("{}:{paths}", folder.path().display()))
            .envs([("LICHESS_BOT_TOKEN", "lip_usual"), ("SECOND_BOT_TOKEN", "lip_second")])
            .output()
            .unwrap();
        assert!(check.status.success(), "{sample}\n{}", err(&check));
    }
}

//! The samples of docs/lichess.md can be copied as they are: with the files and variables of its first steps, each can
//! be played with. So can the programs of docs/engines.md.

use std::{fs, path::Path};

use zeitnot_testing::has_program;

use super::{page, shown};
use crate::support::{
    command::{err, out, zeitnot},
    files::write,
};

#[test]
fn samples_for_lichess_need_nothing_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    write(here("lichess.token"), "lip_first", 0o600);
    write(here("first.token"), "lip_first", 0o600);
    write(here("pychess.token"), "any", 0o600);
    // The sample says that it must be installed.
    let engine = format!("#!/bin/sh\nexec '{}' uci\n", crate::support::command::ZEITNOT);
    write(here("stockfish"), &engine, 0o755);
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

/// A program in a code block of this language, as a file that can be executed.
fn program(page: &str, language: &str, path: &Path) {
    let (_, block) = page.split_once(&format!("```{language}\n#!")).unwrap();
    write(path, format!("#!{}", block.split("```").next().unwrap()), 0o755);
}

#[test]
fn the_sample_programs_play() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    let page = page("docs/engines.md");
    for (language, name) in [("python", "my_bot.py"), ("sh", "my_bot.sh")] {
        program(&page, language, &here(name));
        if language == "python" && !has_program("python3", "python3") {
            continue;
        }
        let engine = format!("./{name} protocol=lines");
        let arguments =
            ["match", "--engine", &engine, "--engine", "random", "--games", "2", "--movetime", "20s"];
        let played = zeitnot(&arguments).current_dir(&folder).output().unwrap();
        assert!(played.status.success(), "{}", err(&played));
        let score = out(&played);
        for failing in ["time forfeits", "illegal moves", "crashes"] {
            let row = score.lines().rfind(|line| line.trim_start().starts_with(failing)).unwrap();
            assert!(row.contains(&format!("0 of ./{name}, 0 of random")), "{score}");
        }
    }
}

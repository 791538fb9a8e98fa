//! The house rules that the compiler does not know: `docs/architecture.md` says why they are.

#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A room and the rooms it may import. Arrows point one way; there is no circle.
const ROOMS: &[(&str, &[&str])] = &[
    ("game", &[]),
    ("wire", &["game"]),
    ("net", &[]),
    ("priority", &[]),
    ("process", &[]),
    ("seat", &["game"]),
    ("online", &["game", "wire", "net", "seat"]),
    ("engine", &["game", "wire", "priority", "process"]),
    ("training", &["game", "engine"]),
    ("bot", &["game", "priority", "engine", "seat", "online"]),
    ("protocol", &["game", "seat", "wire", "net"]),
    ("arena", &["game", "wire", "net"]),
    ("matches", &["game", "wire", "engine", "bot", "arena"]),
    (
        "cli",
        &[
            "game", "wire", "net", "priority", "process", "seat", "online", "engine", "training", "bot",
            "protocol", "arena", "matches",
        ],
    ),
];

/// What a room does not name: it is of another world.
const STRANGERS: &[(&str, &[&str])] = &[
    ("game", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("wire", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("engine", &["tokio", "std::net"]),
    ("training", &["tokio", "std::net"]),
];

/// A longer file is two files.
const LONGEST: usize = 600;

/// What may stand at the top of the repository; `web` and `Dockerfile` are to come.
const TOP: &[&str] = &[
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "benches",
    "clippy.toml",
    "config.toml",
    "docs",
    "rustfmt.toml",
    "scripts",
    "src",
    "tests",
    "web",
];

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code without comments and without the tests at its end: those may look further.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n")
}

/// The rooms named after `crate::`, also in `crate::{a, b::{c, d}}`.
fn imports(code: &str) -> Vec<&str> {
    let first_word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut rooms = Vec::new();
    for (at, found) in code.match_indices("crate::") {
        let rest = &code[at + found.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            rooms.push(&rest[..first_word(rest)]);
            continue;
        };
        let (mut depth, mut begins) = (0, true);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                c if begins && !c.is_whitespace() => {
                    rooms.push(&group[at..at + first_word(&group[at..])]);
                    begins = false;
                }
                _ => {}
            }
        }
    }
    rooms
}

#[test]
fn imports_are_found_in_every_form() {
    let code = "use crate::game;\nuse crate::{\n    engine::{Score, wire},\n    seat::Seat,\n    bot,\n};\nfn f(x: crate::net::X) {}";
    assert_eq!(imports(code), ["game", "engine", "seat", "bot", "net"]);
    assert_eq!(
        self::code("use a;\n// crate::b\nuse c;\n\n#[cfg(test)]\nmod tests {\n    use crate::d;\n}\n"),
        "use a;\nuse c;\n\n".replace("\n\n", "\n")
    );
}

#[test]
fn every_room_keeps_to_its_own() {
    let src = home().join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut faults = Vec::new();
    for file in files {
        let name = file.strip_prefix(&src).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        if !text.starts_with("//!") {
            faults.push(format!("{name}: say on top what this file is for (`//!`)"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            faults.push(format!("{name}: {lines} lines; more than {LONGEST} are two subjects"));
        }
        let room = name.split(['/', '\\', '.']).next().unwrap_or_default();
        if room == "lib" || room == "main" {
            continue;
        }
        let Some((_, allowed)) = ROOMS.iter().find(|(known, _)| *known == room) else {
            faults.push(format!("{name}: no such room; a new one has a row in tests/tidy.rs"));
            continue;
        };
        let code = code(&text);
        for import in imports(&code) {
            let is_room = ROOMS.iter().any(|(known, _)| *known == import);
            if is_room && import != room && !allowed.contains(&import) {
                faults.push(format!("{name}: `{room}` may not import `{import}`"));
            }
        }
        for stranger in STRANGERS.iter().filter(|(known, _)| *known == room).flat_map(|(_, names)| *names) {
            if code.contains(stranger) {
                faults.push(format!("{name}: `{room}` may not name `{stranger}`"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn the_table_of_rooms_has_no_circle() {
    for (at, (room, allowed)) in ROOMS.iter().enumerate() {
        for import in *allowed {
            let below = ROOMS[..at].iter().any(|(known, _)| known == import);
            assert!(below, "{room} may import {import}, which does not stand above it in the table");
        }
    }
}

/// Looks at what is committed: what else lies about is nobody's business.
#[test]
fn nothing_strange_stands_at_the_top() {
    let listed = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files"])
        .current_dir(home())
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(listed) = listed else { return };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut strange: Vec<_> =
        listed.lines().filter_map(|path| path.split('/').next()).filter(|top| !TOP.contains(top)).collect();
    strange.dedup();
    assert!(strange.is_empty(), "at the top of the repository: {strange:?}");
}

/// A fresh clone has what a first look needs.
#[test]
fn the_papers_are_there() {
    let papers =
        ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.lock", "config.toml", ".ci/run"];
    for paper in papers {
        assert!(home().join(paper).is_file(), "{paper} is missing");
    }
}

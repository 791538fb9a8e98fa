//! The house rules that the compiler does not know: `docs/architecture.md` says why they are.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What a crate does not use, whatever its dependencies bring along.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("crates/rules", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("crates/wire", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("crates/engine", &["tokio", "std::net"]),
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
    "crates",
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

#[test]
fn every_file_keeps_to_its_subject() {
    let mut files = Vec::new();
    sources(&home().join("src"), &mut files);
    sources(&home().join("crates"), &mut files);
    let mut faults = Vec::new();
    for file in files {
        let name = file.strip_prefix(home()).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        if !text.starts_with("//!") {
            faults.push(format!("{name}: say on top what this file is for (`//!`)"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            faults.push(format!("{name}: {lines} lines; more than {LONGEST} are two subjects"));
        }
        let code = code(&text);
        for word in
            FORBIDDEN.iter().filter(|(folder, _)| name.starts_with(folder)).flat_map(|(_, words)| *words)
        {
            if code.contains(word) {
                faults.push(format!("{name}: may not use `{word}`"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
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

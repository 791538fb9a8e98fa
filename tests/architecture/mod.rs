//! Rules of the source tree that neither the compiler nor Cargo knows; `docs/architecture.md` gives the reasons.

mod sources;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sources::{Crate, circles, code, rust_files};
use zeitnot_testing::{has_program, is_installed};

/// Names that a crate's code does not contain.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("rules", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("wire", &["tokio", "std::net", "std::fs", "std::thread"]),
    ("pairing", &["tokio", "std::net", "std::fs", "std::thread"]),
    (
        "referee",
        &["tokio::net", "tokio::spawn", "tokio::sync", "sleep", "std::net", "std::fs", "std::thread"],
    ),
    ("host", &["tokio::net", "std::net::Tcp", "std::net::Udp"]),
    ("web", &["zeitnot_engine", "zeitnot_bot", "zeitnot_arena", "sqlx"]),
    ("engine", &["tokio", "std::net"]),
    ("external", &["tokio", "std::net"]),
    ("trainer", &["tokio", "std::net"]),
];

/// Files that may contain `unsafe`.
const UNSAFE: &[&str] = &["crates/engine/src/huge_pages.rs", "crates/engine/src/transposition_table.rs"];

/// A longer file is split.
const MAX_LINES: usize = 600;

/// Entries at the top of the repository.
const TOP: &str = ".cargo .ci .config .dockerignore .github .gitignore CHANGELOG.md CONTRIBUTING.md Cargo.lock Cargo.toml \
    Containerfile Dockerfile LICENSE Makefile README.md benches clippy.toml config.schema.json config.toml crates deny.toml \
    docs fuzz justfile kits packaging rust-toolchain.toml rustfmt.toml scripts src tests web";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The name and the `src` folder of each crate; the root package is called `zeitnot`.
fn crates() -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = folders
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| (folder.file_name().unwrap().display().to_string(), folder.join("src")))
        .collect();
    found.push(("zeitnot".to_owned(), root().join("src")));
    found
}

/// A path below the root of the repository.
fn shown(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string().replace('\\', "/")
}

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn files_have_a_first_line_of_documentation_and_are_short() {
    let mut faults = Vec::new();
    for folder in ["src", "crates", "tests", "benches"] {
        for file in rust_files(&root().join(folder)) {
            let name = shown(&file);
            let text = fs::read_to_string(&file).unwrap();
            let lines = text.lines().count();
            if !text.starts_with("//!") {
                faults.push(format!("{name}: the first line says what the file is for (`//!`)"));
            }
            if lines > MAX_LINES {
                faults.push(format!("{name}: {lines} lines, more than {MAX_LINES}"));
            }
        }
    }
    none(&faults);
}

#[test]
fn crates_keep_to_their_subject() {
    let mut faults = Vec::new();
    for (krate, src) in crates() {
        let forbidden = FORBIDDEN.iter().filter(|(name, _)| *name == krate).flat_map(|(_, names)| *names);
        let forbidden: Vec<_> = forbidden.collect();
        for file in rust_files(&src) {
            let (name, code) = (shown(&file), code(&fs::read_to_string(&file).unwrap()));
            let is_test = file.ends_with("tests.rs") || file.iter().any(|part| part == "tests");
            for word in forbidden.iter().filter(|word| !is_test && code.contains(**word)) {
                faults.push(format!("{name}: `{word}` does not belong in `{krate}`"));
            }
            let has_unsafe = ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| code.contains(word));
            if has_unsafe && !UNSAFE.contains(&name.as_str()) {
                faults.push(format!("{name}: `unsafe`"));
            }
        }
    }
    none(&faults);
}

/// Tests are limited by the attribute that the root of their program imports.
#[test]
fn each_test_has_a_time_limit() {
    let mut roots: Vec<_> = ["tests/main.rs", "tests/alone/main.rs"].map(|name| root().join(name)).into();
    for (_, src) in crates() {
        let text = |file: &PathBuf| fs::read_to_string(file).unwrap();
        let has_tests = rust_files(&src).iter().any(|file| text(file).contains("\n#[cfg(test)]\n"));
        roots.extend(has_tests.then(|| src.join("lib.rs")));
    }
    let mut faults = Vec::new();
    for root in roots {
        if !fs::read_to_string(&root).unwrap().contains("extern crate zeitnot_testing;") {
            faults.push(format!("{}: its tests have no time limit: import zeitnot_testing", shown(&root)));
        }
    }
    none(&faults);
}

/// A file may import from its parents and from others, but no way leads back. See [`Crate::edges`].
#[test]
fn no_circle_between_files() {
    let mut faults = Vec::new();
    for (krate, src) in crates() {
        let read = Crate::read(&src);
        let edges = read.edges();
        for circle in circles(&edges) {
            faults.push(format!("{krate}: a circle between {circle:?}:"));
            for file in &circle {
                let to: Vec<_> = edges[file].iter().filter(|to| circle.contains(to)).collect();
                faults.push(format!("  {file} imports from {to:?}"));
            }
        }
    }
    none(&faults);
}

/// A crate that is published contains what it embeds. Its unit tests may read files of the repository.
#[test]
fn embedded_files_lie_in_their_crate() {
    let mut faults = Vec::new();
    for (_, src) in crates() {
        let home = src.parent().unwrap();
        for file in rust_files(&src).into_iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(&file).unwrap();
            let beside = ["include_str!(\"", "include_bytes!(\""].map(|mark| (mark, file.parent().unwrap()));
            for (mark, folder) in beside.into_iter().chain([("#[folder = \"", home)]) {
                for (at, _) in text.match_indices(mark) {
                    let embedded = text[at + mark.len()..].split('"').next().unwrap();
                    let path = fs::canonicalize(folder.join(embedded));
                    if !path.is_ok_and(|path| path.starts_with(fs::canonicalize(home).unwrap())) {
                        faults.push(format!("{}: {embedded} is not in the crate's folder", shown(&file)));
                    }
                }
            }
        }
    }
    none(&faults);
}

/// Looks at committed files only.
#[test]
fn the_top_of_the_repository_is_tidy() {
    // An archive of the sources is no repository.
    if !is_installed("the repository", root().join(".git").exists(), "git clone")
        || !has_program("git", "git")
    {
        return;
    }
    let listed = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut unknown: Vec<_> = listed
        .lines()
        .filter_map(|path| path.split('/').next())
        .filter(|top| !TOP.split(' ').any(|known| known == *top))
        .collect();
    unknown.dedup();
    assert!(unknown.is_empty(), "at the top of the repository: {unknown:?}");
    for needed in
        ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.lock", "config.toml", ".ci/run"]
    {
        assert!(root().join(needed).is_file(), "{needed} is missing");
    }
}

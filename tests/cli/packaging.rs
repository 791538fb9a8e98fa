//! Manual pages and completions, as packages install them.

use std::{fs, process::Command};
use zeitnot_testing::has_program;

use crate::support::command::{err, out, zeitnot};

#[test]
fn each_command_has_a_manual_page_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let made = zeitnot(&["man", folder.path().to_str().unwrap()]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let has_man = has_program("man", "man-db");
    let mut pages: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        assert!(text.contains("\n.SH NAME\n") && !text.contains("\n.SH EXTRA\n"), "{}", page.display());
        if has_man {
            let mut man = Command::new("man");
            man.args(["--warnings", "--encoding=UTF-8", "--local-file", "--troff-device=utf8", "--ditroff"]);
            let shown = man.arg(page).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100").output().unwrap();
            assert!(shown.status.success() && shown.stderr.is_empty(), "{}: {shown:?}", page.display());
        }
    }
    let named = |name: &str| pages.iter().any(|page| page.ends_with(name));
    assert!(named("zeitnot.1") && named("zeitnot-play.1") && named("zeitnot-arena-keys.1"), "{pages:?}");
}

#[test]
fn a_manual_page_shows_examples_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    assert!(zeitnot(&["man", folder.path().to_str().unwrap()]).status().unwrap().success());
    let page = fs::read_to_string(folder.path().join("zeitnot-check.1")).unwrap();
    let (_, examples) = page.split_once(".SH EXAMPLES\n.nf\n").unwrap();
    assert!(examples.contains("\n\\&  zeitnot check class.toml  "), "{examples}");
    assert!(examples.contains("zeitnot check \\-\\-default > config.toml"), "{examples}");
}

#[test]
fn shells_accept_their_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = zeitnot(&["completions", shell]).output().unwrap();
        assert!(script.status.success() && out(&script).contains("train-small"), "{shell}: {script:?}");
        // Debian has no package of the last two.
        if !["bash", "zsh", "fish"].contains(&shell) || !has_program(shell, shell) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        fs::write(&file, &script.stdout).unwrap();
        // Syntax only.
        let checked = Command::new(shell).arg("-n").arg(&file).output().unwrap();
        assert!(checked.status.success() && checked.stderr.is_empty(), "{shell}: {checked:?}");
    }
}

#[test]
fn the_configuration_of_the_package_is_valid_and_plays_nowhere() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/debian/config.toml");
    let check = zeitnot(&["check", file]).output().unwrap();
    assert!(check.status.success() && out(&check).contains("server: none"), "{check:?}");
    // The unit restarts a bot unless it ends with this code.
    assert_eq!(zeitnot(&["play", file]).output().unwrap().status.code(), Some(2));
}

#[test]
fn the_configuration_of_the_packages_arena_is_valid() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/debian/arena.toml");
    let check = zeitnot(&["check", file]).output().unwrap();
    assert!(check.status.success() && out(&check).contains("class"), "{check:?}");
}

/// Both units of the system are valid, and leave their service as little as each other.
#[cfg(target_os = "linux")]
#[test]
fn the_units_are_valid_and_hardened() {
    if !has_program("systemd-analyze", "systemd") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for unit in ["zeitnot.service", "zeitnot-arena.service"] {
        let text = fs::read_to_string(format!("{}/packaging/{unit}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let file = folder.path().join(unit);
        fs::write(&file, text.replace("/usr/bin/zeitnot", env!("CARGO_BIN_EXE_zeitnot"))).unwrap();
        let analyze = |arguments: &[&str]| {
            let mut command = Command::new("systemd-analyze");
            let done = command.arg("--no-pager").args(arguments).arg(&file).output().unwrap();
            assert!(done.status.success(), "{unit}: {done:?}");
            done
        };
        let verified = analyze(&["verify", "--man=no"]);
        assert!(verified.stderr.is_empty(), "{unit}: {verified:?}");
        // Tenths of the exposure that docs/service.md names, and a little for other versions of systemd.
        analyze(&["security", "--offline=true", "--threshold=16"]);
    }
}

#[cfg(unix)]
#[test]
fn manifests_of_a_release_have_the_checksums_of_its_archives() {
    if !has_program("python3", "python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = [
        "aarch64-apple-darwin",
        "x86_64-apple-darwin",
        "aarch64-unknown-linux-musl",
        "x86_64-unknown-linux-musl",
    ];
    let mut sums: String = targets
        .iter()
        .zip("abcd".chars())
        .map(|(target, digit)| format!("{}  zeitnot-1.2.3-{target}.tar.gz\n", digit.to_string().repeat(64)))
        .collect();
    let make = |sums: &str| {
        fs::write(folder.path().join("SHA256SUMS"), sums).unwrap();
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/manifests"))
            .args(["--version", "1.2.3", "--url", "https://example.org/o/r/releases/download/v1.2.3"])
            .args(["--sums", "SHA256SUMS", "--out", "out"])
            .current_dir(&folder)
            .output()
            .unwrap()
    };
    let refused = make(&sums);
    assert!(
        !refused.status.success() && err(&refused).contains("no SHA-256 of zeitnot-1.2.3-x86_64-pc-windows")
    );
    sums += &format!("{}  zeitnot-1.2.3-x86_64-pc-windows-msvc.zip\n", "e".repeat(64));
    let made = make(&sums);
    assert!(made.status.success(), "{made:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let formula = read("zeitnot.rb");
    for (target, digit) in targets.iter().zip("abcd".chars()) {
        let entry = format!(
            "releases/download/v1.2.3/zeitnot-1.2.3-{target}.tar.gz\"\n      sha256 \"{}\"",
            digit.to_string().repeat(64)
        );
        assert!(formula.contains(&entry), "{target}: {formula}");
    }
    let installer = read("Zeitnot.Zeitnot.installer.yaml");
    assert!(installer.contains(&format!("InstallerSha256: {}", "E".repeat(64))), "{installer}");
    if has_program("ruby", "ruby") {
        let checked =
            Command::new("ruby").arg("-c").arg(folder.path().join("out/zeitnot.rb")).output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
}

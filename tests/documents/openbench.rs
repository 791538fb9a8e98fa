//! Facts that OpenBench's client relies on: docs/openbench.md, the Makefile and the output of `bench`.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;
use zeitnot_testing::has_program;

use super::{home, page};
use crate::support::command::{out, zeitnot};

/// Keys of presets in `OpenBench/config.py` (9906bad, 27 July 2026) that the page uses.
const PRESET_KEYS: [&str; 9] = [
    "base_branch",
    "book_name",
    "both_options",
    "both_time_control",
    "draw_adj",
    "test_bounds",
    "test_confidence",
    "win_adj",
    "workload_size",
];

#[test]
fn the_file_for_an_instance_is_one_that_it_accepts() {
    let page = page("docs/openbench.md");
    let (_, rest) = page.split_once("```json\n").unwrap();
    let engine: Value = serde_json::from_str(rest.split("```").next().unwrap()).unwrap();
    assert!(engine["private"].is_boolean() && engine["nps"].as_u64() > Some(0));
    assert!(engine["source"].as_str().unwrap().starts_with("https://github.com/"));
    let build = &engine["build"];
    assert!(build["path"] == "" && build["cpuflags"].is_array() && build["systems"].is_array());
    let compiler = format!("cargo>={}.0", env!("CARGO_PKG_RUST_VERSION"));
    assert_eq!(build["compilers"], Value::from(vec![compiler]));
    for kind in ["test_presets", "tune_presets", "datagen_presets"] {
        let presets = engine[kind].as_object().unwrap();
        assert!(presets.contains_key("default"));
        for (key, value) in presets.values().flat_map(|preset| preset.as_object().unwrap()) {
            assert!(PRESET_KEYS.contains(&key.as_str()), "{key}");
            // As the server takes options apart.
            let words = || value.as_str().unwrap().split(' ').map(|word| word.split_once('=').unwrap().0);
            assert!(key != "both_options" || words().eq(["Threads", "Hash"]), "{value}");
        }
    }
}

/// The words of a line, as the client's regular expressions see it.
fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// The number before this word in the last line that has one.
fn last(output: &str, word: &str) -> Option<u64> {
    let number =
        |line| words(line).windows(2).find(|pair| pair[1].starts_with(word)).map(|pair| pair[0].parse());
    output.lines().rev().find_map(number)?.ok()
}

#[test]
fn the_client_reads_the_result_of_bench() {
    let output = zeitnot(&["bench", "--depth", "4"]).output().unwrap();
    let text = out(&output);
    let (nodes, _) = text.lines().last().unwrap().split_once(" nodes ").unwrap();
    assert_eq!(last(text, "nodes"), nodes.parse().ok());
    assert!(last(text, "nps") > Some(0), "{text}");
}

/// `make -n` says what it would run.
fn make(arguments: &[&str]) -> String {
    let mut make = Command::new("make");
    make.args(["-n", "-j"]).args(arguments).current_dir(home());
    let output = make.env_remove("MAKEFLAGS").env_remove("CARGO_TARGET_DIR").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn make_builds_under_the_name_that_the_client_gives() {
    if !has_program("make", "make") {
        return;
    }
    let cargo = "cargo build --release --locked -p zeitnot-engine";
    let told = make(&["EXE=Zeitnot-36F754B1"]);
    assert!(told.starts_with(cargo) && !told.contains("bench") && !told.contains("--features"), "{told}");
    assert!(told.ends_with("cp \"target/release/zeitnot-engine\" \"Zeitnot-36F754B1\"\n"), "{told}");
    let with_net = make(&["EXE=Zeitnot-36F754B1-5F5C5890", "EVALFILE=/tmp/5F5C5890"]);
    assert!(with_net.contains("bench 1 1 \"/tmp/5F5C5890\""), "{with_net}");
    assert!(make(&["FEATURES=tuning"]).contains("--features \"tuning\""));
}

/// It sets these options.
#[test]
fn the_engine_has_the_options_that_the_client_sets() {
    let mut uci = zeitnot(&["uci"]);
    let mut child = uci.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"uci\nquit\n").unwrap();
    let output = child.wait_with_output().unwrap();
    for name in ["Threads", "Hash", "SyzygyPath", "SyzygyProbeLimit"] {
        assert!(out(&output).contains(&format!("option name {name} type ")), "{name}: {output:?}");
    }
}

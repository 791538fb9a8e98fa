//! The program as its users start it.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use tokio::io::AsyncWriteExt;
use zeitnot_testing::soon;

/// Path of the program.
pub const ZEITNOT: &str = env!("CARGO_BIN_EXE_zeitnot");

/// Variables of whoever runs the tests that would change what the program does.
pub const ENVIRONMENT: [&str; 10] = [
    "RUST_LOG",
    "ZEITNOT_TOKEN",
    "ZEITNOT_JOIN_KEY",
    "ZEITNOT_IMCS_PASSWORD",
    "ZEITNOT_CERVEAU_PASSWORD",
    "ZEITNOT_CACHE_PASSWORD",
    "LICHESS_BOT_TOKEN",
    "LICHESS_EXPLORER_TOKEN",
    "NOTIFY_SOCKET",
    "CREDENTIALS_DIRECTORY",
];

/// The program with these arguments, and without the tokens and log filters of whoever runs the tests.
pub fn zeitnot(arguments: &[&str]) -> Command {
    let mut command = Command::new(ZEITNOT);
    for variable in ENVIRONMENT {
        command.env_remove(variable);
    }
    command.args(arguments);
    command
}

pub fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Runs the program with a configuration and this input. Returns its exit code, and what it wrote to both outputs.
pub async fn run(arguments: &[&str], config: &Path, input: &str) -> (Option<i32>, String) {
    let mut child = tokio::process::Command::from(zeitnot(arguments))
        .arg("--config")
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
    let output = soon("the program's end", child.wait_with_output()).await.unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

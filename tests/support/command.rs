//! The program as its users start it.

use std::process::{Command, Output};

/// Path of the program.
pub const ZEITNOT: &str = env!("CARGO_BIN_EXE_zeitnot");

/// The program with these arguments, and without the tokens and log filters of whoever runs the tests.
pub fn zeitnot(arguments: &[&str]) -> Command {
    let mut command = Command::new(ZEITNOT);
    for variable in ["RUST_LOG", "ZEITNOT_TOKEN", "LICHESS_BOT_TOKEN", "LICHESS_EXPLORER_TOKEN"] {
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

//! Commands of the program. No need to change this file.

mod client;
mod guard;
mod local;
mod my_bot;
mod test;
mod worker;

use std::{env, process::ExitCode};

const USAGE: &str =
    "usage: cargo run --release test | local [greedy|random|me] | client NAME [KEY] | worker";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => test::run(),
        ["local", ref opponent @ ..] => local::run(opponent.first().unwrap_or(&"greedy")),
        ["client", ref name_and_key @ ..] => client::run(name_and_key),
        ["worker"] => worker::run(),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

//! The engine under a GUI or a match runner, by UCI or UBGI.
//!
//! One [console] loop serves both [dialects](dialect) and owns everything: a thread reads the input into its
//! inbox, and the search reports to it. The loop never waits for a search: at the hard limit the best move so far
//! is the answer. What it needs of a game's type stands behind the trait [`Board`](board::Board).

use std::io::{BufRead, Write};

use crate::config::Config;

mod board;
mod console;
mod dialect;
mod error;
mod io;
mod options;
mod perft;
mod search;
mod ubgi;

use console::Console;
use dialect::{Dialect, UCI};
pub use error::UciError;
use options::Options;
use ubgi::UBGI;

/// Speaks UCI until `quit` or the end of the input.
///
/// # Errors
/// [`UciError`].
pub fn run(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), UciError> {
    serve(&UCI, Config::default(), input, output)
}

/// Speaks UBGI, for MiniChess, until `quit` or the end of the input.
///
/// # Errors
/// [`UciError`].
pub fn run_ubgi(
    config: Config,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), UciError> {
    serve(&UBGI, Config { hash_mib: ubgi::HASH_MIB, ..config }, input, output)
}

fn serve(
    dialect: &'static Dialect,
    config: Config,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), UciError> {
    let options = Options::new(config, dialect.game, dialect.margin.overhead);
    Console::open(dialect, options, input, Box::new(output))?.run()
}

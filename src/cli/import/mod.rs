//! `zeitnot import`: converts a configuration of another bot, lichess-bot or BotLi.
//!
//! `yaml` parses it. A [`Source`] is the tables of a bot's keys; `lichess_bot` and `botli` have one each, and code for the keys
//! that depend on others. `values` converts single values, `convert` the whole configuration. `tables` holds both of them
//! during the conversion.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use zeitnot_net::secret_file;
use zeitnot_wire::lichess::Token;

use super::{CliError, print, read_text, unwritten, usage};

mod botli;
mod convert;
mod lichess_bot;
mod source;
mod tables;
mod values;
pub mod yaml;

pub use convert::{Converted, SOURCES, convert};
pub use source::Source;

/// Convert the config.yml of lichess-bot or BotLi
///
/// Prints a configuration for zeitnot. The keys show which bot the file belongs to; those of earlier releases are known,
/// too. Keys that could not be converted are listed on stderr and in comments at the top, with reasons. The token is never
/// printed; `--token-file` stores it in a file.
#[derive(Debug, clap::Args)]
#[command(alias = "import-lichess-bot")]
#[command(after_help = "\
Examples:
  zeitnot import config.yml --token-file lichess.token > config.toml
  zeitnot import config.yml > config.toml      with the token in LICHESS_BOT_TOKEN
  zeitnot check                                validate the result

Exit code: 0 if it was converted, 1 if the token could not be written, 2 if the file could not be read, belongs to neither
bot, or has no key that could be converted.")]
pub(super) struct Args {
    /// Configuration of lichess-bot or BotLi
    #[arg(value_name = "CONFIG.YML")]
    config: PathBuf,
    /// Write the token to this new file, readable only by you
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Maximum size of a configuration in bytes.
const MAX_SIZE: u64 = 256 << 10;

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let wrong = |why: String| usage(format!("{}: {why}", args.config.display()));
    let text = read_text(&args.config, MAX_SIZE).map_err(|error| wrong(error.to_string()))?;
    let home = args.config.parent().unwrap_or(Path::new(""));
    let Converted { text, token, left, is_empty } =
        convert(&text, home, args.token_file.as_deref()).map_err(wrong)?;
    if is_empty {
        let keys = left.join("; ");
        return Err(wrong(format!("none of its keys could be converted: {keys}")));
    }
    if let (Some(file), Some(token)) = (&args.token_file, &token) {
        store(file, token).map_err(unwritten(file))?;
    }
    print(|out| out.write_all(text.as_bytes()))?;
    // On a terminal the comments are visible already.
    if !io::stdout().is_terminal() {
        for line in left {
            let _ = writeln!(io::stderr(), "could not be converted: {line}");
        }
    }
    Ok(())
}

/// Writes a new file that only its owner can read.
fn store(path: &Path, token: &Token) -> io::Result<()> {
    let mut file = secret_file::private().write(true).create_new(true).open(path)?;
    writeln!(file, "{}", token.expose())
}

//! `zeitnot import-lichess-bot`: makes a configuration of ours from one of lichess-bot.
//!
//! `rows` has their keys and ours, `values` what becomes of a value on its way, `convert` the way itself.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use zeitnot_wire::lichess::Token;

use super::{CliError, print};

mod convert;
pub mod rows;
mod values;

pub use convert::{Converted, convert};

/// Make a configuration from the config.yml of lichess-bot
///
/// What it says in its way is said in ours, on stdout. What could not be converted is told on stderr, each with the
/// reason, and stands in comments on top. The token is never printed: `--token-file` keeps it in a file of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot import-lichess-bot config.yml --token-file lichess.token > config.toml
  zeitnot import-lichess-bot config.yml > config.toml      the token from LICHESS_BOT_TOKEN
  zeitnot check                                            is the result sound?

Exit code: 0 if it could be read, 1 if the token could not be written, 2 if it could not be read.")]
pub struct Args {
    /// The configuration of lichess-bot
    #[arg(value_name = "CONFIG.YML")]
    pub config: PathBuf,
    /// Write the token to this new file, which only you can read
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// A longer file is no configuration.
const LONGEST: u64 = 256 << 10;

/// Runs the command.
///
/// # Errors
/// [`CliError::Foreign`] if there is no such configuration, [`CliError::Unwritten`] for the token.
pub fn run(args: &Args) -> Result<(), CliError> {
    let wrong = |why: String| CliError::Foreign { path: args.config.clone(), why };
    let text = read(&args.config).map_err(|error| wrong(error.to_string()))?;
    // Their paths begin where their file stands.
    let home = args.config.parent().unwrap_or(Path::new(""));
    let Converted { text, token, left } = convert(&text, home, args.token_file.as_deref()).map_err(wrong)?;
    if let (Some(file), Some(token)) = (&args.token_file, &token) {
        keep(file, token).map_err(|source| CliError::Unwritten { path: file.clone(), source })?;
    }
    print(|out| out.write_all(text.as_bytes()))?;
    // Who sees the text sees the comments in it.
    if !io::stdout().is_terminal() {
        for line in left {
            // If even stderr is closed, the comments still tell.
            let _ = writeln!(io::stderr(), "could not be converted: {line}");
        }
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    let fits = u64::try_from(text.len()).is_ok_and(|length| length <= LONGEST);
    if fits {
        Ok(text)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for a configuration"))
    }
}

/// A new file that is its owner's from the first moment on.
fn keep(path: &Path, token: &Token) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{}", token.expose())
}

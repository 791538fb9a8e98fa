//! Passwords for the command line, from files: arguments are seen by all users of the machine.

use std::{io, path::Path};

use zeitnot_net::secret_file;

use super::{CliError, usage};

/// Reads a password from a file that only its owner can read, or from standard input for `-`.
pub(super) fn read(file: &Path) -> Result<String, CliError> {
    let text = match file.as_os_str() == "-" {
        true => secret_file::read_from(io::stdin().lock()).map_err(|error| error.to_string()),
        false => secret_file::read(file).map_err(|error| error.to_string()),
    };
    let text = text.and_then(|text| if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(text) });
    text.map_err(|why| usage(format!("--password-file {}: {why}", file.display())))
}

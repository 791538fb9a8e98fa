//! `zeitnot man`: the manual pages, one for each command.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Command, CommandFactory, builder::Resettable};
use clap_mangen::Man;

use super::{Cli, CliError, unwritten};

/// Write the manual pages into a folder
///
/// Writes zeitnot.1 and one page for each command, such as zeitnot-play.1. Packages install them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zeitnot man ~/.local/share/man/man1")]
pub(super) struct Args {
    /// Folder of the pages; created if it does not exist
    folder: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    fs::create_dir_all(&args.folder)
        .and_then(|()| write_pages(cli, &args.folder))
        .map_err(unwritten(&args.folder))
}

/// Writes the page of this command, and those of its subcommands.
fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_pages(subcommand.clone(), folder)?;
    }
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // clap would fill these lines as a paragraph.
    let page = Man::new(command.after_help(Resettable::Reset))
        .source(concat!("zeitnot ", env!("CARGO_PKG_VERSION")))
        .manual("Zeitnot Manual");
    let mut file = File::create(folder.join(page.get_filename()))?;
    page.render(&mut file)?;
    file.write_all(examples_section(&examples).as_bytes())?;
    file.flush()
}

/// Formats the text that follows the help of a command, line by line.
fn examples_section(text: &str) -> String {
    let text = text.strip_prefix("Examples:").or_else(|| text.strip_prefix("Example:")).unwrap_or(text);
    let lines: Vec<_> =
        text.trim_matches('\n').lines().map(|line| format!("\\&{}\n", escaped(line))).collect();
    if lines.is_empty() { String::new() } else { format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.concat()) }
}

/// Escapes what troff takes for a command, and marks hyphens as those of options, which are copied to a terminal.
fn escaped(line: &str) -> String {
    line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

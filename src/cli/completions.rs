//! `zeitnot completions`: the completion script of a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CliError, print};

/// Print the completion script of a shell
///
/// Packages install these scripts; after `cargo install`, write one where your shell looks for it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot completions bash > ~/.local/share/bash-completion/completions/zeitnot
  zeitnot completions zsh > ~/.zfunc/_zeitnot
  zeitnot completions fish > ~/.config/fish/completions/zeitnot.fish
  zeitnot completions powershell >> $PROFILE")]
pub(super) struct Args {
    /// Shell that runs the script
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "zeitnot", &mut script);
    print(|out| out.write_all(&script))
}

//! The command line: one file a subcommand, and what they share.
//!
//! A new subcommand is a file with `Args` and `run`, a variant of [`Command`] and a line in [`run`].

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use zeitnot_arena::ArenaError;
use zeitnot_clients::{ProtocolError, lookup::LookupError};
use zeitnot_engine::{OutOfMemory, book::BookError, syzygy::TablebaseError, training::RecordFileError};
use zeitnot_rules::GameError;

use clap::{Parser, Subcommand};

pub mod arena;
pub mod bench;
pub mod check;
pub mod config;
pub mod datagen;
pub mod demo;
mod engines;
pub mod import;
pub mod lichess;
pub mod live;
pub mod log;
pub mod matches;
mod network;
pub mod openings;
pub mod perft;
pub mod play;
pub mod referee;
pub mod runner;
pub mod signals;
pub mod study;
pub mod tune;
pub mod ubgi;
pub mod uci;

use config::ConfigErrors;

/// A chess bot that is never in time trouble.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do; if nothing is said `uci` where the input is a pipe, as GUIs have it, else `demo`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  zeitnot                                  show me: a small tournament on this machine
  zeitnot check --default > config.toml    begin with the documented configuration
  zeitnot check                            is it sound, and what would it do?
  zeitnot play                             play on the servers it names
  zeitnot arena                            run the tournaments it names
  zeitnot lichess check                    can this account play on Lichess?
  zeitnot import-lichess-bot config.yml    a configuration made of one of lichess-bot
  zeitnot uci                              be an engine, under any chess GUI
  zeitnot runner state action              answer one position of MiniChess, by files
  zeitnot referee './first' './second'     let two such programs play
  zeitnot ubgi                             be an engine of MiniChess, under the NTHU runner of 2026
  zeitnot match --engine A --engine B      which one is better?
  zeitnot study --quick                    what alpha-beta saves, and other experiments of courses
  zeitnot datagen quiet.bin                positions of games against itself, to learn from
  zeitnot tune quiet.bin                   the weights of the evaluation that explain them best

In `play` the first Ctrl-C finishes the running games, the second one leaves them.
RUST_LOG=debug shows more. `zeitnot help COMMAND` says more.";

/// What can be done.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is said in its own file, also to the user
pub enum Command {
    Demo(demo::Args),
    Play(play::Args),
    Arena(arena::Args),
    Uci(uci::Args),
    Ubgi(ubgi::Args),
    Check(check::Args),
    Bench(bench::Args),
    Perft(perft::Args),
    Runner(runner::Args),
    Referee(referee::Args),
    Match(matches::Args),
    Openings(openings::Args),
    Study(study::Args),
    Datagen(datagen::Args),
    Tune(tune::Args),
    Lichess(lichess::Args),
    ImportLichessBot(import::Args),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The configuration is wrong; the first mistake is told.
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    /// The configuration is wrong, and the user wants to know it all.
    #[error(transparent)]
    Checked(ConfigErrors),
    /// The arguments make no sense together.
    #[error("{0}")]
    Usage(String),
    /// A position that is none.
    #[error(transparent)]
    Position(#[from] GameError),
    /// An opening book that cannot be read.
    #[error("bot.book: {0}")]
    Book(BookError),
    /// A server that cannot be asked for moves.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// Endgame tables that are none.
    #[error("engine.syzygy: {0}")]
    Tables(#[from] TablebaseError),
    /// A table larger than the memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// An engine that was to play cannot.
    #[error("{0}")]
    Engine(String),
    /// The arena cannot start.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The engine under a GUI cannot go on.
    #[error(transparent)]
    Uci(#[from] zeitnot_engine::uci::UciError),
    /// A server does not want us.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// An account cannot play, or cannot be looked at.
    #[error(transparent)]
    Account(#[from] lichess::AccountError),
    /// A measurement whose result is not as it should be.
    #[error("{0} moves or games were late")]
    Late(usize),
    /// A task of ours panicked.
    #[error("a task crashed, please report it: {0}")]
    Crashed(#[from] tokio::task::JoinError),
    /// Another program's configuration that cannot be read.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// Where it stands.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A place that takes no file.
    #[error("{}: cannot be written: {source}; is it the right place?", path.display())]
    Unwritten {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of positions that cannot be read or written.
    #[error(transparent)]
    RecordFile(#[from] RecordFileError),
    /// The operating system says no.
    #[error("{doing}: {source}")]
    Io {
        /// What we were at.
        doing: &'static str,
        /// What it says.
        source: io::Error,
    },
}

impl CliError {
    /// 2 where the user has to mend something before it can work, 1 for what went wrong on the way.
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Config(_) | CliError::Checked(_) | CliError::Usage(_) | CliError::Position(_) => 2,
            CliError::Arena(error) if error.is_configuration() => 2,
            CliError::Account(error) if error.is_configuration() => 2,
            CliError::OutOfMemory(_) | CliError::Tables(_) => 2,
            CliError::Book(_) | CliError::Lookup(_) | CliError::Foreign { .. } => 2,
            CliError::Protocol(_) | CliError::Arena(_) | CliError::Uci(_) | CliError::Account(_) => 1,
            CliError::Engine(_) | CliError::Crashed(_) | CliError::Late(_) | CliError::RecordFile(_) => 1,
            CliError::Io { .. } | CliError::Unwritten { .. } => 1,
        }
    }

    /// What stands on stderr, each thing in one line.
    fn lines(&self) -> Vec<String> {
        match self {
            CliError::Checked(errors) => errors.iter().map(ToString::to_string).collect(),
            other => vec![other.to_string()],
        }
    }
}

/// The whole program.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.lines() {
                // If even stderr is closed, the exit code still tells.
                let _ = writeln!(io::stderr(), "error: {line}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Runs one command.
///
/// # Errors
/// [`CliError`], which knows its exit code.
pub fn run(cli: Cli) -> Result<(), CliError> {
    match cli.command.unwrap_or_else(unsaid) {
        Command::Demo(args) => demo::run(&args),
        Command::Arena(args) => arena::run(&args),
        Command::Uci(args) => uci::run(&args),
        Command::Ubgi(args) => ubgi::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Play(args) => play::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Perft(args) => perft::run(&args),
        Command::Runner(args) => runner::run(&args),
        Command::Referee(args) => referee::run(&args),
        Command::Match(args) => matches::run(&args),
        Command::Openings(args) => openings::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Datagen(args) => datagen::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Lichess(args) => lichess::run(&args),
        Command::ImportLichessBot(args) => import::run(&args),
    }
}

/// Many GUIs, and OpenBench, start an engine without arguments and speak to it through a pipe. Who sits at a
/// terminal wants to see something.
fn unsaid() -> Command {
    if is_spoken_to() { Command::Uci(uci::Args {}) } else { Command::Demo(demo::Args {}) }
}

#[cfg(unix)]
fn is_spoken_to() -> bool {
    use std::os::{fd::AsFd, unix::fs::FileTypeExt};
    let input = io::stdin().as_fd().try_clone_to_owned().map(fs::File::from);
    let kind = input.and_then(|input| input.metadata()).map(|about| about.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(not(unix))]
fn is_spoken_to() -> bool {
    !io::IsTerminal::is_terminal(&io::stdin())
}

/// Writes a result to stdout. A reader that has seen enough, as `head` does, is no error.
fn print(write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| CliError::Io { doing: "cannot write the result", source }),
    }
}

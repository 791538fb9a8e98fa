//! The command line: one file a subcommand, and what they share.
//!
//! A new subcommand is a file with `Args` and `run`, and a line in `commands`.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use zeitnot_arena::ArenaError;
use zeitnot_bot::network;
use zeitnot_clients::ProtocolError;
use zeitnot_engine::OutOfMemory;
use zeitnot_rules::GameError;
use zeitnot_trainer::{TrainError, games::GameFileError};
use zeitnot_web::error::ServerError;

mod arena;
mod arguments;
mod bench;
mod board;
mod bot_page;
mod browser;
mod check;
mod completions;
pub mod config;
mod datagen;
mod demo;
mod engines;
pub mod import;
#[cfg(target_os = "linux")]
mod journal;
mod kit;
mod lichess;
mod live;
mod log;
mod log_file;
mod log_line;
mod man_pages;
mod matches;
mod openings;
mod page_api;
mod password;
mod perft;
mod play;
mod preflight;
mod progress;
mod referee;
mod relabel;
mod reload;
mod runner;
mod screen;
mod service;
mod signals;
mod spsa;
mod study;
mod table;
mod thought;
mod train;
mod train_small;
mod tune;
mod ubgi;
mod uci;
mod watch;

use config::ConfigErrors;

/// A chess bot that is never in time trouble.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  zeitnot                                  show a small tournament on this machine
  zeitnot board                            play against it, on a board in the terminal
  zeitnot watch                            watch the games of an arena in the terminal
  zeitnot check --default > config.toml    write the documented default configuration
  zeitnot check                            validate it, and show what it would do
  zeitnot play                             play on the servers it names
  zeitnot arena                            run the tournaments it names
  zeitnot kit python my-bot                write a starter kit for a student's program
  zeitnot lichess check                    check an account on Lichess
  zeitnot import config.yml                convert a configuration of lichess-bot or BotLi
  zeitnot uci                              run as an engine under a chess GUI
  zeitnot runner state action              answer one position of MiniChess, by files
  zeitnot referee './first' './second'     let two such programs play
  zeitnot ubgi                             run as a MiniChess engine under the NTHU runner of 2026
  zeitnot match --engine A --engine B      measure which of two engines is better
  zeitnot study --quick                    reproduce experiments of course reports
  zeitnot datagen games.bin                generate games by self-play
  zeitnot relabel games.bin taught.bin --teacher stockfish
                                           give them the scores of another engine
  zeitnot tune games.bin                   fit the weights of the evaluation to them
  zeitnot spsa --engine A --tune NAME      tune options of an engine by games
  zeitnot train games.bin                  train a net for the evaluation
  zeitnot train-small minichess-2026 mini.bin
                                           train the small net of a game other than chess
  zeitnot completions bash                 print the completion script of a shell

Without a command, zeitnot speaks UCI if its input is a pipe, and runs `demo` otherwise.
In `play` the first Ctrl-C finishes the running games, the second one leaves them.
RUST_LOG=debug logs more. `zeitnot help COMMAND` explains a command.";

/// Defines the subcommands, in the order of the help: each is a module with `Args` and `run`.
macro_rules! commands {
    ($($name:ident: $module:ident,)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($module::Args),)+
        }

        fn run(cli: Cli) -> Result<(), CliError> {
            match cli.command.unwrap_or_else(default_command) {
                $(Command::$name(args) => $module::run(&args),)+
            }
        }
    };
}
commands! {
    Demo: demo,
    Board: board,
    Watch: watch,
    Play: play,
    Arena: arena,
    Kit: kit,
    Uci: uci,
    Ubgi: ubgi,
    Check: check,
    Bench: bench,
    Perft: perft,
    Runner: runner,
    Referee: referee,
    Match: matches,
    Openings: openings,
    Study: study,
    Datagen: datagen,
    Relabel: relabel,
    Tune: tune,
    Spsa: spsa,
    Train: train,
    TrainSmall: train_small,
    Lichess: lichess,
    Import: import,
    Completions: completions,
    Man: man_pages,
}

#[derive(Debug, thiserror::Error)]
enum CliError {
    /// Shows the first mistake only.
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    /// Shows all mistakes.
    #[error(transparent)]
    Checked(ConfigErrors),
    /// Arguments or files that only the user can correct.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Position(#[from] GameError),
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// An engine of a match or of the configuration that cannot play.
    #[error("{0}")]
    Engine(String),
    #[error(transparent)]
    Network(#[from] network::StartError),
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Results(#[from] zeitnot_arena::ResultsError),
    #[error(transparent)]
    Uci(#[from] zeitnot_engine::uci::UciError),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error(transparent)]
    Account(#[from] lichess::AccountError),
    /// Refusal or silence of the arena that was asked.
    #[error("{0}")]
    Unanswered(String),
    /// Work that SIGTERM ended.
    #[error("{0}")]
    Terminated(String),
    #[error("a task crashed, please report it: {0}")]
    Crashed(#[from] tokio::task::JoinError),
    #[error("{}: cannot be written: {source}; is it the right place?", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Match(#[from] zeitnot_matches::FileError),
    #[error(transparent)]
    GameFile(#[from] GameFileError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: io::Error },
}

impl CliError {
    /// 2 if the user must correct something first, 143 after SIGTERM in the midst of work, 1 for failures at run time.
    fn exit_code(&self) -> u8 {
        match self {
            CliError::Config(_) | CliError::Checked(_) | CliError::Usage(_) | CliError::Position(_) => 2,
            CliError::OutOfMemory(_) | CliError::Results(_) => 2,
            CliError::Match(zeitnot_matches::FileError::Content { .. }) => 2,
            CliError::GameFile(GameFileError::NotGames(_) | GameFileError::BadGame { .. }) => 2,
            CliError::Train(error) if error.is_usage() => 2,
            CliError::Arena(error) if error.is_configuration() => 2,
            CliError::Server(ServerError::Config(_)) => 2,
            CliError::Account(lichess::AccountError::Token(_)) => 2,
            CliError::Terminated(_) => signals::TERMINATED_CODE,
            _ => 1,
        }
    }
}

/// Maps an error of the operating system; `doing` says what failed.
fn io_error(doing: &'static str) -> impl Fn(io::Error) -> CliError {
    move |source| CliError::Io { doing, source }
}

fn unwritten(path: &Path) -> impl Fn(io::Error) -> CliError {
    move |source| CliError::Unwritten { path: path.to_owned(), source }
}

fn usage(error: impl ToString) -> CliError {
    CliError::Usage(error.to_string())
}

/// Reads a file of at most this many bytes.
fn read_text(path: &Path, max_size: u64) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(max_size + 1).read_to_string(&mut text)?;
    match text.len() as u64 > max_size {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "is too large for a configuration")),
        false => Ok(text),
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let Err(error) = run(arguments::parse()) else { return ExitCode::SUCCESS };
    let lines = match &error {
        CliError::Checked(errors) => errors.iter().map(ToString::to_string).collect(),
        other => vec![other.to_string()],
    };
    for line in lines {
        // Even if stderr is closed, there is the exit code.
        let _ = writeln!(io::stderr(), "error: {line}");
    }
    ExitCode::from(error.exit_code())
}

/// Many GUIs, and OpenBench, start an engine without arguments and speak to it through a pipe.
fn default_command() -> Command {
    if is_piped() { Command::Uci(uci::Args {}) } else { Command::Demo(demo::Args::default()) }
}

#[cfg(unix)]
fn is_piped() -> bool {
    use std::os::{fd::AsFd, unix::fs::FileTypeExt};
    let input = io::stdin().as_fd().try_clone_to_owned().map(fs::File::from);
    let kind = input.and_then(|input| input.metadata()).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(not(unix))]
fn is_piped() -> bool {
    !io::IsTerminal::is_terminal(&io::stdin())
}

/// Writes a result to stdout. It is no error if the reader has closed it, as `head` does.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(io_error("cannot write the result")),
    }
}

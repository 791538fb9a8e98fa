//! `zeitnot referee`: a match of two programs that exchange files.

use std::{
    fs,
    path::{self, PathBuf},
    time::Duration,
};

use tokio::{runtime, select};

use zeitnot_arena::nthu::{self, FileGame};
use zeitnot_external::files::Files;
use zeitnot_referee::Ending;
use zeitnot_rules::{ByColor, Color, GameResult};

use super::{CliError, io_error, print, signals::Signals, table, unwritten};

/// Let two programs play MiniChess through files
///
/// The program is started for each move; the names of the files `state` and `action` follow its arguments. At the
/// limit it gets SIGTERM, and is killed 2 s later (the course's referee would wait forever). The last complete group of
/// four numbers in `action` is its move; if that is missing or illegal, its opponent wins. Colours alternate from game
/// to game.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot referee 'zeitnot runner' ./player_submission
  zeitnot referee --games 20 --time 500ms 'zeitnot runner' 'zeitnot runner --engine alpha-beta --depth 6'

A program is a quoted command with arguments; use sh -c '…' for more of a shell.
Lines that begin with `result` are for other programs: game, players, score, plies, reason.
Ctrl-C aborts the running game, which does not count. Exit code: 0 also then.")]
pub(super) struct Args {
    /// Program that has White in the first game
    white: String,
    /// Program that has Black in the first game
    black: String,
    /// Number of games
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Time limit for a move
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// Plies after which the material decides
    #[arg(long, default_value = "50", value_parser = clap::value_parser!(u16).range(1..))]
    plies: u16,
    /// Folder for the two files [default: a temporary one]
    #[arg(long)]
    directory: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let (folder, _temporary) = match &args.directory {
        Some(given) => {
            // Absolute, as the programs may run in other folders.
            let folder = fs::create_dir_all(given).and_then(|()| path::absolute(given));
            (folder.map_err(unwritten(given))?, None)
        }
        None => {
            let temporary = tempfile::Builder::new().prefix("zeitnot-referee-").tempdir();
            let temporary = temporary.map_err(io_error("cannot make a folder for the match"))?;
            (temporary.path().to_owned(), Some(temporary))
        }
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let files = Files::in_folder(&folder);
    let played = runtime.map_err(io_error("cannot start a runtime"))?.block_on(play(args, &files));
    let removed = files.remove();
    print_table(args, &played?)?;
    removed.map_err(io_error("cannot remove the files of the match"))
}

/// Names of the two programs.
const NAMES: [&str; 2] = ["first", "second"];

/// Finished game.
struct Played {
    /// Index of the program that had White.
    white: usize,
    ending: Ending,
    reason: &'static str,
    plies: usize,
}

/// Plays all games, or until a signal.
async fn play(args: &Args, files: &Files) -> Result<Vec<Played>, CliError> {
    let mut signals = Signals::new()?;
    let commands = [args.white.as_str(), args.black.as_str()];
    let mut games = Vec::new();
    for number in 1..=args.games {
        let white = (number as usize + 1) % 2;
        let programs = ByColor([commands[white], commands[1 - white]]);
        let [white_command, black_command] = programs.0;
        print(|out| writeln!(out, "game {number}: {white_command} – {black_command}"))?;
        let game = FileGame::new(programs, files, args.time, args.plies);
        let played = select! {
            played = play_game(game, white) => played?,
            _ = signals.next() => {
                print(|out| writeln!(out, "aborted"))?;
                break;
            }
        };
        print_result(number, &played)?;
        games.push(played);
    }
    Ok(games)
}

/// Plays one game, and prints each step.
async fn play_game(mut game: FileGame<'_>, white: usize) -> Result<Played, CliError> {
    loop {
        let step = game.step().await.map_err(io_error("cannot run a program for its move"))?;
        print(|out| writeln!(out, "{step}"))?;
        if let Some(ending) = game.ending() {
            let plies = step.number - usize::from(step.mv.is_none());
            return Ok(Played { white, ending, reason: nthu::reason(ending, &step), plies });
        }
    }
}

/// Prints the last line of the course's record, and one for other programs.
fn print_result(number: u32, game: &Played) -> Result<(), CliError> {
    let Played { white, ending, reason, plies } = game;
    let words = match ending.result {
        Some(GameResult::Won(Color::White)) => "Player1 wins",
        Some(GameResult::Won(Color::Black)) => "Player2 wins",
        Some(GameResult::Draw) | None => "Draw",
    };
    let (white, black, score) = (NAMES[*white], NAMES[1 - white], ending.result_text());
    print(|out| {
        writeln!(out, "{words}")?;
        writeln!(
            out,
            "result game={number} white={white} black={black} score={score} plies={plies} reason={reason}\n"
        )
    })
}

/// Prints the score of both, by colour.
fn print_table(args: &Args, games: &[Played]) -> Result<(), CliError> {
    print(|out| {
        writeln!(out, "player  points  games  won (white)  drawn  lost (white)  command")?;
        for (program, command) in [&args.white, &args.black].into_iter().enumerate() {
            let mut won = 0;
            let mut lost = 0;
            let mut won_white = 0;
            let mut lost_white = 0;
            for game in games {
                let has_white = game.white == program;
                match game.ending.result {
                    Some(GameResult::Won(winner)) if (winner == Color::White) == has_white => {
                        won += 1;
                        won_white += usize::from(has_white);
                    }
                    Some(GameResult::Won(_)) => {
                        lost += 1;
                        lost_white += usize::from(has_white);
                    }
                    Some(GameResult::Draw) | None => {}
                }
            }
            let name = NAMES[program];
            let games = games.len();
            let drawn = games - won - lost;
            let points = won as f64 + drawn as f64 / 2.0;
            let row = format!(
                "{name:6} {points:7.1} {games:6} {won:4} ({won_white:5}) {drawn:6} {lost:5} ({lost_white:5})  {command}"
            );
            writeln!(out, "{}", table::fold(&row, table::width(), 4))?;
        }
        Ok(())
    })
}

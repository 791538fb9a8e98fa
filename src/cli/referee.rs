//! `zeitnot referee`: a match of two programs that speak through files.

use std::{
    fs,
    io::Write as _,
    path::{self, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{runtime, select};

use zeitnot_arena::{
    Ending,
    nthu::{self, FileGame, Files},
};
use zeitnot_rules::{ByColor, Color, GameResult};

use super::{CliError, print, signals::Signals};

/// Let two programs play MiniChess through files
///
/// For each move, the program is started anew, with the names of the files `state` and `action` behind its
/// own arguments. At the limit it gets SIGTERM, and is killed 2 s later (the course's referee would wait for
/// ever). The last complete group of four numbers in `action` is its move; if that is missing or illegal,
/// its opponent has won. Colours alternate from game to game.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot referee 'zeitnot runner' ./player_submission
  zeitnot referee --games 20 --time 500ms 'zeitnot runner' 'zeitnot runner --engine alpha-beta --depth 6'

A program is a command with arguments, quoted; what needs more of a shell goes into sh -c '…'.
Lines that begin with `result` are for other programs: game, players, score, plies, reason.
Ctrl-C breaks the running game off, and it does not count. Exit code: 0 also then.")]
pub struct Args {
    /// The program that is white in the first game
    pub white: String,
    /// The program that is black in the first game
    pub black: String,
    /// Number of games
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub games: u32,
    /// Time limit for a move
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    pub time: Duration,
    /// Plies after which the material decides
    #[arg(long, default_value = "50", value_parser = clap::value_parser!(u16).range(1..))]
    pub plies: u16,
    /// Folder for the two files [default: a temporary one]
    #[arg(long)]
    pub directory: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] if the files cannot be used, or no shell can be started.
pub fn run(args: &Args) -> Result<(), CliError> {
    let place = Place::find(args.directory.as_deref())?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| CliError::Io { doing: "cannot start a runtime", source })?;
    let files = Files::in_folder(place.path());
    let played = runtime.block_on(play(args, &files));
    let removed = files.remove();
    table(args, &played?)?;
    removed.map_err(|source| CliError::Io { doing: "cannot remove the files of the match", source })
}

/// Folder of the files.
enum Place {
    Own(TempDir),
    Given(PathBuf),
}

impl Place {
    /// Returns an absolute path: the programs may run in other folders.
    fn find(given: Option<&path::Path>) -> Result<Place, CliError> {
        let Some(folder) = given else {
            let own = tempfile::Builder::new().prefix("zeitnot-referee-").tempdir();
            return own
                .map(Place::Own)
                .map_err(|source| CliError::Io { doing: "cannot make a folder for the match", source });
        };
        let made = fs::create_dir_all(folder).and_then(|()| path::absolute(folder));
        made.map(Place::Given).map_err(|source| CliError::Unwritten { path: folder.to_owned(), source })
    }

    fn path(&self) -> &path::Path {
        match self {
            Place::Own(own) => own.path(),
            Place::Given(path) => path,
        }
    }
}

/// Program, whichever colour it has.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Contender {
    First,
    Second,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::First => "first",
            Contender::Second => "second",
        }
    }
}

/// Game of the match.
struct Counted {
    contenders: ByColor<Contender>,
    ending: Ending,
    reason: &'static str,
    plies: usize,
}

/// Plays all games, or until a signal.
async fn play(args: &Args, files: &Files) -> Result<Vec<Counted>, CliError> {
    let mut signals =
        Signals::new().map_err(|source| CliError::Io { doing: "cannot listen for signals", source })?;
    let mut games = Vec::new();
    for number in 1..=args.games {
        let contenders = match number % 2 {
            1 => ByColor([Contender::First, Contender::Second]),
            _ => ByColor([Contender::Second, Contender::First]),
        };
        let programs = ByColor(contenders.0.map(|contender| match contender {
            Contender::First => args.white.as_str(),
            Contender::Second => args.black.as_str(),
        }));
        let [white, black] = programs.0;
        print(|out| writeln!(out, "game {number}: {white} – {black}"))?;
        let game = FileGame::new(programs, files, args.time, args.plies);
        let counted = select! {
            counted = play_game(game, contenders) => counted?,
            () = signals.next() => {
                print(|out| writeln!(out, "aborted"))?;
                break;
            }
        };
        result(number, &counted)?;
        games.push(counted);
    }
    Ok(games)
}

/// Plays one game, and prints each step.
async fn play_game(mut game: FileGame<'_>, contenders: ByColor<Contender>) -> Result<Counted, CliError> {
    loop {
        let step = game.step().await;
        let step =
            step.map_err(|source| CliError::Io { doing: "cannot run a program for its move", source })?;
        print(|out| writeln!(out, "{step}"))?;
        if let Some(ending) = game.ending() {
            let plies = step.number - usize::from(step.mv.is_none());
            return Ok(Counted { contenders, ending, reason: nthu::reason(ending, &step), plies });
        }
    }
}

/// Prints the last line of the course's record, and one for other programs.
fn result(number: u32, game: &Counted) -> Result<(), CliError> {
    let Counted { contenders, ending, reason, plies } = game;
    let words = match ending.result {
        Some(GameResult::Won(Color::White)) => "Player1 wins",
        Some(GameResult::Won(Color::Black)) => "Player2 wins",
        Some(GameResult::Draw) | None => "Draw",
    };
    let ([white, black], score) = (contenders.0.map(Contender::name), ending.result_text());
    let line =
        format!("game={number} white={white} black={black} score={score} plies={plies} reason={reason}");
    print(|out| writeln!(out, "{words}\nresult {line}\n"))
}

/// Prints the score of both, by colour.
fn table(args: &Args, games: &[Counted]) -> Result<(), CliError> {
    print(|out| {
        writeln!(out, "player  points  games  won (white)  drawn  lost (white)  command")?;
        for (contender, phrase) in [(Contender::First, &args.white), (Contender::Second, &args.black)] {
            let row = Row::of(contender, games);
            let (points, name) = (row.won as f64 + row.drawn as f64 / 2.0, contender.name());
            let Row { games, won, won_white, drawn, lost, lost_white } = row;
            writeln!(
                out,
                "{name:6} {points:7.1} {games:6} {won:4} ({won_white:5}) {drawn:6} {lost:5} ({lost_white:5})  {phrase}"
            )?;
        }
        Ok(())
    })
}

/// Row of the table.
#[derive(Default)]
struct Row {
    games: usize,
    won: usize,
    won_white: usize,
    drawn: usize,
    lost: usize,
    lost_white: usize,
}

impl Row {
    fn of(contender: Contender, games: &[Counted]) -> Row {
        let mut row = Row { games: games.len(), ..Row::default() };
        for Counted { contenders, ending, .. } in games {
            let is_white = usize::from(contenders[Color::White] == contender);
            match ending.result {
                Some(GameResult::Draw) | None => row.drawn += 1,
                Some(GameResult::Won(color)) if contenders[color] == contender => {
                    row.won += 1;
                    row.won_white += is_white;
                }
                Some(GameResult::Won(_)) => {
                    row.lost += 1;
                    row.lost_white += is_white;
                }
            }
        }
        row
    }
}

//! `zeitnot datagen merge`: joins files of games, without duplicates.

use std::{
    collections::HashSet,
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use indicatif::ProgressBar;

use zeitnot_engine::StopFlag;
use zeitnot_net::NewFile;
use zeitnot_rules::GameKind;
use zeitnot_trainer::games::{BadGame, GameFileError, GameReader, GameSet};

use crate::cli::{CliError, io_error, print, progress, signals, unwritten, usage};

/// Join files of games, without duplicates
///
/// Every game is replayed, so that OUT contains no damaged one. Games are the same if they begin with the same position and
/// have the same moves; the first one is kept. IN may be larger than the memory: each game takes about sixteen bytes of
/// it. OUT appears only when it is complete.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot datagen merge all.bin first.bin second.bin
  zeitnot datagen merge all.bin games-*.bin

Exit code: 0 when OUT is written, 2 if a file is damaged or cut, holds other games or is given twice.")]
pub(super) struct Args {
    /// File to write; must not exist
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Files of `zeitnot datagen`
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Skip an incomplete last game of a file, as after a kill or a partial copy, instead of failing
    #[arg(long)]
    cut: bool,
}

/// Message at Ctrl-C.
const STOPPING: &str = "stopping; nothing is written\n";

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let path = &args.output;
    if path.symlink_metadata().is_ok() {
        return Err(usage(format!(
            "{}: is there already; choose another name, or remove it",
            path.display()
        )));
    }
    let mut merge = Merge {
        bar: progress::bar(total_size(&args.inputs)?, "{wide_bar} {bytes}/{total_bytes} {eta}"),
        stop: signals::stop_flag(STOPPING)?,
        out: NewFile::create(path).map_err(unwritten(path))?,
        cut: args.cut,
        known: GameSet::default(),
        kind: None,
        path,
    };
    let counts = args.inputs.iter().map(|input| merge.add(input)).collect::<Result<Vec<_>, _>>()?;
    merge.bar.finish_and_clear();
    merge.out.finish().map_err(unwritten(path))?;
    print(|out| {
        for (input, counts) in args.inputs.iter().zip(&counts) {
            writeln!(out, "{}: {counts}", input.display())?;
        }
        let sum = |count: fn(&Counts) -> u64| counts.iter().map(count).sum::<u64>();
        let games = sum(|counts| counts.games - counts.duplicates);
        let positions = sum(|counts| counts.positions);
        writeln!(out, "{}: {games} games, {positions} positions", path.display())
    })
}

/// Size of the files, of which none may be given twice.
fn total_size(inputs: &[PathBuf]) -> Result<u64, CliError> {
    let mut size = 0;
    let mut seen = HashSet::new();
    for path in inputs {
        let io = |source| GameFileError::Io { path: path.clone(), source };
        size += path.metadata().map_err(io)?.len();
        if !seen.insert(path.canonicalize().map_err(io)?) {
            return Err(usage(format!("{}: is given twice; name each file once", path.display())));
        }
    }
    Ok(size)
}

/// Games of a file.
#[derive(Copy, Clone, Debug, Default)]
struct Counts {
    games: u64,
    /// Those that stand before it in this file or another one.
    duplicates: u64,
    /// Positions with a score of those that are written.
    positions: u64,
    /// Whether the file ends within a game.
    is_cut: bool,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} games, {} duplicates", self.games, self.duplicates)?;
        if self.games > 0 && self.games == self.duplicates {
            write!(f, ": a copy?")?;
        }
        if self.is_cut { write!(f, ", and a cut one") } else { Ok(()) }
    }
}

/// Files that are being joined.
struct Merge<'a> {
    bar: ProgressBar,
    stop: Arc<StopFlag>,
    path: &'a Path,
    out: NewFile,
    /// Whether files may end within a game.
    cut: bool,
    known: GameSet,
    /// Rules of the games so far.
    kind: Option<GameKind>,
}

impl Merge<'_> {
    /// Writes the games of a file that are new.
    fn add(&mut self, input: &Path) -> Result<Counts, CliError> {
        let mut reader = GameReader::open(input)?;
        let mut counts = Counts::default();
        loop {
            if self.stop.is_raised() {
                return Err(io_error("not merged")(io::ErrorKind::Interrupted.into()));
            }
            let (kind, game) = match reader.next_game() {
                Ok(Some(game)) => game,
                Ok(None) => return Ok(counts),
                Err(GameFileError::BadGame { error: BadGame::Torn, .. }) if self.cut => {
                    return Ok(Counts { is_cut: true, ..counts });
                }
                Err(error) => return Err(self.refusal(input, counts, error)),
            };
            let first = *self.kind.get_or_insert(kind);
            if kind != first {
                let input = input.display();
                let kind = kind.name();
                let first = first.name();
                return Err(usage(format!("{input}: holds games of {kind}, those before it are of {first}")));
            }
            self.bar.inc(game.bytes().len() as u64);
            counts.games += 1;
            if self.known.insert(&game) {
                self.out.write_all(game.bytes()).map_err(unwritten(self.path))?;
                counts.positions += game.positions();
            } else {
                counts.duplicates += 1;
            }
        }
    }

    fn refusal(&self, input: &Path, counts: Counts, error: GameFileError) -> CliError {
        let input = input.display();
        let games = counts.games;
        match error {
            GameFileError::BadGame { error: BadGame::Torn, .. } => usage(format!(
                "{input}: ends within a game, behind {games} others; run its `zeitnot datagen` again, which \
                 continues, or add --cut to leave that game out"
            )),
            GameFileError::BadGame { error, .. } => {
                usage(format!("{input}: holds {error}, behind {games} others; generate it anew"))
            }
            other => other.into(),
        }
    }
}

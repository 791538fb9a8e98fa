//! `zeitnot relabel`: replaces the scores of games by those of another engine.

use std::{
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use zeitnot_engine as engine;
use zeitnot_external::Program;
use zeitnot_trainer::games::{GameFile, GameFileError, GameWriter, PlayedGame, Teacher, TeacherError};

use super::{
    CliError,
    engines::unknown_options,
    io_error, matches,
    progress::{self, Work},
};

/// Give the quiet positions of games the scores of another engine
///
/// The games in OUT are those in IN, in the same order, with new scores where the side to move is not in check and the
/// move played is neither a capture nor a promotion. The engine runs in as many processes as --threads says; a process that dies is
/// started again. Ctrl-C ends it with the games so far; it may also be killed at any time, and continues when it is run
/// again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot relabel games.bin taught.bin --teacher stockfish
  zeitnot relabel games.bin taught.bin --teacher './engine option.Hash=4' --nodes 5000

The teacher speaks UCI. It is a path or a program in the search path, with arguments, folder= and
option.NAME= as in `zeitnot match`.")]
pub(super) struct Args {
    /// Games of `zeitnot datagen`
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to append to
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The engine
    #[arg(long, value_name = "ENGINE")]
    teacher: String,
    /// Nodes for each position
    #[arg(long, value_name = "N", default_value_t = NODES)]
    nodes: NonZeroU64,
    /// Number of processes [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

const NODES: NonZeroU64 = NonZeroU64::new(1_000).unwrap();
/// Finished games of a process that may wait for those before them.
const QUEUE_CAPACITY: usize = 8;
/// Name of the engine in messages.
const TEACHER: &str = "teacher";

/// A game with new scores, or why there is none.
type Relabelled = Result<PlayedGame, TeacherError>;

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let games = GameFile::open(&args.input)?;
    let (total, positions) = games.games().fold((0, 0), |(total, positions), game| {
        (total + 1, positions + game.map_or(0, |game| game.len() as u64))
    });
    let done = done(&games, args)?;
    let mut store = GameWriter::open(&args.output)?;
    let config = matches::external_engine(&args.teacher)?;
    let opened = Program::open(TEACHER, &config).map_err(|error| CliError::Engine(error.to_string()))?;
    if let Some(problem) = unknown_options(TEACHER, &opened) {
        return Err(CliError::Engine(problem));
    }
    let threads = args.threads.unwrap_or_else(engine::cores).get();

    let work = Work::begin(positions, "{wide_bar} {pos}/{len} {per_sec} {eta}")?;
    work.bar.set_position(store.positions());
    work.bar.reset_eta();
    let ended = thread::scope(|scope| {
        // Games are dealt in turn, and collected in turn, so that they keep their order.
        let mut lanes = Vec::new();
        for at in 0..threads {
            let (to_writer, lane) = sync_channel(QUEUE_CAPACITY);
            lanes.push(lane);
            let mut teacher = Teacher::new(opened.program.clone(), args.nodes.get());
            let games = games.games().skip(done + at).step_by(threads);
            let stop = &work.stop;
            let teach = move || {
                for game in games.map(|game| teacher.relabel(&game?, stop)).map_while(Result::transpose) {
                    if to_writer.send(game).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new()
                .name("teacher".into())
                .spawn_scoped(scope, teach)
                .map_err(io_error("cannot start a thread"))?;
        }
        let ended = collect(&lanes, &mut store, args, &work);
        work.stop.stop();
        ended
    });
    work.bar.finish_and_clear();
    ended?;
    let file = args.output.display();
    let has = store.games();
    if has < total { progress::continues(format_args!("{file}: {has} of {total} games")) } else { Ok(()) }
}

/// Number of games that an earlier run has finished.
fn done(games: &GameFile, args: &Args) -> Result<usize, CliError> {
    if !args.output.exists() {
        return Ok(0);
    }
    let earlier = GameFile::open(&args.output)?;
    let mut expected = games.games();
    let mut done = 0;
    for game in earlier.games() {
        let is_same = match (game, expected.next()) {
            (Ok(game), Some(Ok(expected))) => game.has_moves_of(&expected),
            _ => false,
        };
        if !is_same {
            let input = args.input.display();
            let output = args.output.display();
            return Err(CliError::Usage(format!(
                "{output}: holds other games than {input}; choose another file"
            )));
        }
        done += 1;
    }
    Ok(done)
}

/// Appends the games, one of each process in turn, until there are no more.
fn collect(
    lanes: &[Receiver<Relabelled>],
    store: &mut GameWriter,
    args: &Args,
    work: &Work,
) -> Result<(), CliError> {
    let path = |path: &PathBuf| path.clone();
    for game in lanes.iter().cycle().map_while(|lane| lane.recv().ok()) {
        let game = game.map_err(|error| match error {
            TeacherError::Game(error) => GameFileError::BadGame { path: path(&args.input), error }.into(),
            TeacherError::Engine(fault) => CliError::Engine(format!(
                "engine {TEACHER} ({}) {fault}, several times in a row; the same command continues",
                args.teacher
            )),
        })?;
        store.append(&game).map_err(|source| GameFileError::Io { path: path(&args.output), source })?;
        work.bar.set_position(store.positions());
    }
    Ok(())
}

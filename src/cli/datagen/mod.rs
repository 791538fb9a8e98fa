//! `zeitnot datagen`: self-play games for tuning the evaluation and training networks.

use std::{
    collections::BTreeMap,
    num::{NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use zeitnot_engine as engine;
use zeitnot_engine::{StopFlag, net::EvalFile, search::STACK_SIZE};
use zeitnot_rules::GameKind;
use zeitnot_trainer::games::{
    GameFileError, GameWriter, NodeLimits, SelfPlayer, Shard, StoredGame, self_player,
};

mod merge;

use super::{
    CliError, io_error,
    progress::{self, Work},
    usage,
};

/// Play games against itself and store them with the scores of their positions
///
/// Games begin with random moves. Each position takes four bytes, in the format of docs/data.md. Ctrl-C ends it with
/// the games so far; it may also be killed at any time, and continues when it is run again. A seed gives the same file
/// on any number of threads, also after interruptions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot datagen games.bin                        two million positions, on all cores
  zeitnot datagen --positions 10000 --seed 7 small.bin
  zeitnot datagen --shard 2/3 second.bin           the second of three machines
  zeitnot datagen merge all.bin first.bin second.bin third.bin
  zeitnot datagen --game minichess-2026 mini.bin")]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    task: Option<Task>,
    /// File to append to
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    /// Game: chess, a variant, minichess-2026, minichess-2023, minichess-imcs or tuc
    #[arg(long, value_name = "GAME", default_value = "chess")]
    game: GameKind,
    /// Number of positions in the file; the last game is kept whole
    #[arg(long, value_name = "N", default_value_t = POSITIONS)]
    positions: NonZeroU64,
    /// Nodes for each move; a running iteration may take eight times as many
    #[arg(long, value_name = "N", default_value_t = NODES)]
    nodes: NonZeroU64,
    /// Concurrent games [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Play only a share of the openings, so that files of several processes or machines share no game
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
    /// Evaluation: net, hand-made, or the path of a net
    #[arg(long, value_name = "EVALFILE", default_value_t)]
    eval_file: EvalFile,
    /// Seed: the same seed gives the same file [default: a random number]
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    Merge(merge::Args),
}

const POSITIONS: NonZeroU64 = NonZeroU64::new(2_000_000).unwrap();
const NODES: NonZeroU64 = NonZeroU64::new(1_200).unwrap();
/// Hard node limit as a multiple of the soft one.
const HARD_LIMIT_FACTOR: u64 = 8;
/// Capacity of the queue of games to write.
const QUEUE_CAPACITY: usize = 64;

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    match (&args.task, &args.file) {
        (Some(Task::Merge(args)), _) => merge::run(args),
        (None, Some(file)) => generate(args, file),
        (None, None) => Err(usage("name the file to append to")),
    }
}

fn generate(args: &Args, path: &Path) -> Result<(), CliError> {
    let mut store = GameWriter::open_for(path, args.game)?;
    let threads = args.threads.unwrap_or_else(engine::cores).get();
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let nodes = args.nodes.get();
    let limits = NodeLimits { soft: nodes, hard: nodes.saturating_mul(HARD_LIMIT_FACTOR) };
    let players = (0..threads)
        .map(|_| self_player(args.game, limits, args.shard, seed, &args.eval_file))
        .collect::<Result<Vec<_>, _>>()?;

    let work = Work::begin(args.positions.get(), "{wide_bar} {pos}/{len} {per_sec} {eta}")?;
    work.bar.set_position(store.positions());
    work.bar.reset_eta();
    // A continued run does not repeat the games of the first.
    let number = AtomicU64::new(store.games());
    let mut in_order = InOrder { number: store.games(), waiting: BTreeMap::new() };
    let (games, played) = sync_channel(QUEUE_CAPACITY);
    let ended: Result<(), CliError> = thread::scope(|scope| {
        for player in players {
            let games = games.clone();
            let number = &number;
            let stop = &work.stop;
            let thread = thread::Builder::new().name("selfplay".into()).stack_size(STACK_SIZE);
            thread
                .spawn_scoped(scope, move || play(player, number, &games, stop))
                .map_err(io_error("cannot start a thread"))?;
        }
        drop(games);
        // After Ctrl-C the players end, and what they have sent is still written.
        while store.positions() < args.positions.get() {
            let Some(game) = in_order.next() else {
                let Ok((number, game)) = played.recv() else { break };
                in_order.waiting.insert(number, game);
                continue;
            };
            store
                .append_stored(&game)
                .map_err(|source| GameFileError::Io { path: path.to_owned(), source })?;
            work.bar.set_position(store.positions());
        }
        // Closing the channel wakes players that wait to send a game.
        drop(played);
        work.stop.stop();
        Ok(())
    });
    work.bar.finish_and_clear();
    ended?;
    let file = path.display();
    let has = store.positions();
    let wanted = args.positions;
    if has < wanted.get() {
        progress::continues(format_args!("{file}: {has} of {wanted} positions"))
    } else {
        Ok(())
    }
}

/// Plays the next games of all until the receiver is gone.
fn play(
    mut player: Box<dyn SelfPlayer>,
    next: &AtomicU64,
    games: &SyncSender<(u64, StoredGame)>,
    stop: &StopFlag,
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(game) = player.stored_game(number, stop) else { break };
        if games.send((number, game)).is_err() {
            break;
        }
    }
}

/// Games that wait for those before them: a few for each thread, as no game takes many times as long as another.
struct InOrder {
    /// Number of the next game.
    number: u64,
    waiting: BTreeMap<u64, StoredGame>,
}

impl InOrder {
    /// The next game, if it has been played.
    fn next(&mut self) -> Option<StoredGame> {
        let game = self.waiting.remove(&self.number)?;
        self.number += 1;
        Some(game)
    }
}

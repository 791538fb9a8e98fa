//! `zeitnot datagen`: self-play games for tuning the evaluation and training networks.

use std::{
    io::{self, Write},
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use zeitnot_engine as engine;
use zeitnot_engine::{
    StopFlag,
    net::EvalFile,
    search::STACK_SIZE,
    training::{self, GameFileError, GameWriter, NodeLimits, SelfPlayer, Shard, StoredGame},
};
use zeitnot_rules::GameKind;

use super::{CliError, io_error, progress::Work};

/// Play games against itself and store them with the scores of their positions
///
/// Games begin with random moves. Each position takes four bytes, in the format of docs/data.md. Ctrl-C ends it with
/// the games so far; it may also be killed at any time, and continues when it is run again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot datagen games.bin                        two million positions, on all cores
  zeitnot datagen --positions 10000 --threads 1 --seed 7 small.bin
  zeitnot datagen --shard 2/3 second.bin           the second of three machines
  zeitnot datagen --game minichess-2026 mini.bin")]
pub(super) struct Args {
    /// File to append to
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Game: chess, a variant, minichess-2026, minichess-2023, minichess-imcs or tuc
    #[arg(long, value_name = "GAME", default_value = "chess")]
    game: GameKind,
    /// Number of positions that the file shall hold; the last game is kept whole
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
    /// Seed; with one thread, the same seed gives the same file
    #[arg(long)]
    seed: Option<u64>,
}

const POSITIONS: NonZeroU64 = NonZeroU64::new(2_000_000).unwrap();
const NODES: NonZeroU64 = NonZeroU64::new(1_200).unwrap();
/// Hard node limit as a multiple of the soft one.
const HARD_LIMIT_FACTOR: u64 = 8;
/// Capacity of the queue of games to write.
const QUEUE_CAPACITY: usize = 64;

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut store = GameWriter::open_for(&args.file, args.game)?;
    let threads = args.threads.unwrap_or_else(engine::cores).get();
    // A continued run must not repeat the games of the first.
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..)).wrapping_add(store.positions());
    let nodes = args.nodes.get();
    let limits = NodeLimits { soft: nodes, hard: nodes.saturating_mul(HARD_LIMIT_FACTOR) };
    let mut seeds = fastrand::Rng::with_seed(seed);
    let players = (0..threads)
        .map(|_| training::self_player(args.game, limits, args.shard, seeds.u64(..), &args.eval_file))
        .collect::<Result<Vec<_>, _>>()?;

    let work = Work::begin(args.positions.get(), "{wide_bar} {pos}/{len} {per_sec} {eta}")?;
    work.bar.set_position(store.positions());
    work.bar.reset_eta();
    let (games, written) = sync_channel(QUEUE_CAPACITY);
    let ended = thread::scope(|scope| {
        for player in players {
            let (games, stop) = (games.clone(), &work.stop);
            let thread = thread::Builder::new().name("selfplay".into()).stack_size(STACK_SIZE);
            thread
                .spawn_scoped(scope, move || play(player, &games, stop))
                .map_err(io_error("cannot start a thread"))?;
        }
        drop(games);
        // After Ctrl-C the players end, and what they have sent is still written.
        while store.positions() < args.positions.get() {
            let Ok(game) = written.recv() else { break };
            store
                .append_stored(&game)
                .map_err(|source| GameFileError::Io { path: args.file.clone(), source })?;
            work.bar.set_position(store.positions());
        }
        // Closing the channel wakes players that wait to send a game.
        drop(written);
        work.stop.stop();
        Ok(())
    });
    work.bar.finish_and_clear();
    let (has, wanted) = (store.positions(), args.positions);
    if ended.is_ok() && has < wanted.get() {
        // Even if stderr is closed, the positions are there.
        let file = args.file.display();
        let _ = writeln!(io::stderr(), "{file}: {has} of {wanted} positions; the same command continues");
    }
    ended
}

/// Plays games until the receiver is gone.
fn play(mut player: Box<dyn SelfPlayer>, games: &SyncSender<StoredGame>, stop: &StopFlag) {
    while !stop.is_raised() {
        if let Some(game) = player.stored_game(stop)
            && games.send(game).is_err()
        {
            break;
        }
    }
}

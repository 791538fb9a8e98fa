//! `zeitnot runner`: writes a move for a file-based referee at once, and then better and better ones.

use std::{
    fs::File,
    io::{self, Read},
    num::{NonZeroU8, NonZeroU16, NonZeroUsize},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{runtime, select, sync::Notify, time::sleep};
use zeitnot_engine::{
    self as engine, EngineFactory, Kind, Limits,
    driver::{SearchEvent, SearchRequest, SearchThread},
    time::Budget,
};
use zeitnot_rules::{Game, GameHistory, Packed, minichess::MiniChess};
use zeitnot_wire::nthu::{self, MAX_STATE};

use super::{CliError, io_error, signals::Signals, unwritten, usage};

mod actions;
mod plies;

use actions::Actions;

/// Answer one MiniChess position from a file
///
/// Reads the position from STATE and writes a legal move to ACTION at once, then another line whenever a better one is
/// found: the last line counts. Exits at SIGTERM, when its time is up, or when searching longer would change nothing.
/// The number of plies played is kept in STATE.zeitnot for the next call.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot runner state action                                 as the course's referee calls it
  zeitnot runner --time 2s --engine alpha-beta state action   a weaker opponent

Exit code: 0 when stopped or done, 1 if ACTION cannot be written, 2 if STATE is not a position with a legal move.")]
pub(super) struct Args {
    /// The file with the position
    state: PathBuf,
    /// The file for the moves
    action: PathBuf,
    /// Exit after this time
    #[arg(long, default_value = "9.5s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// Algorithm: `search`, `random`, or one of the textbook
    #[arg(long, value_name = "KIND", default_value_t, value_parser = str::parse::<Kind>)]
    engine: Kind,
    /// Maximum search depth, in plies
    #[arg(long)]
    depth: Option<NonZeroU16>,
    /// Search threads
    #[arg(long, default_value = "1")]
    threads: NonZeroU8,
    /// Size of the transposition table, in MiB
    #[arg(long, value_name = "MIB", default_value = "16")]
    hash: NonZeroU16,
    /// The referee counts material after this many plies
    #[arg(long, default_value = "50", value_parser = clap::value_parser!(u16).range(1..))]
    plies: u16,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let began = Instant::now();
    let shown = read(&args.state)?;
    let note = plies::note_beside(&args.state);
    let played = plies::count(&note, &shown);
    // A referee that plays on beyond this end has no such rule.
    let left = args.plies.checked_sub(played).filter(|&left| left > 0).unwrap_or(args.plies);
    let position = shown.before_the_end(left);

    let usual = engine::Config::default();
    let factory = EngineFactory::new(&engine::Config {
        kind: args.engine,
        hash_mib: NonZeroUsize::from(args.hash),
        threads: NonZeroUsize::from(args.threads),
        depth: args.depth.unwrap_or(usual.depth),
        ..usual
    })?;
    let fallback_move = factory.fallback_move(&position);
    let Some(first) = position.unpack(fallback_move) else {
        let file = args.state.display();
        let side = position.side_to_move();
        return Err(usage(format!("{file}: {side} has no legal move in this position")));
    };
    let unwritten = unwritten(&args.action);
    let mut actions = Actions::open(&args.action).map_err(&unwritten)?;
    actions.write(first);
    plies::leave(&note, &shown.at_ply(played));
    if position.moves().len() > 1 {
        let job = Job { position, factory, first: fallback_move, actions: Arc::new(Mutex::new(actions)) };
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(io_error("cannot start a runtime"))?;
        return runtime.block_on(job.run(args, began))?.map_err(unwritten);
    }
    actions.finish().map_err(unwritten)
}

fn read(state: &Path) -> Result<MiniChess, CliError> {
    let wrong = |error: &dyn std::error::Error| {
        usage(format!("{}: {error}; expected the position that the referee writes", state.display()))
    };
    let mut text = Vec::new();
    let file = File::open(state).map_err(|error| wrong(&error))?;
    file.take(MAX_STATE).read_to_end(&mut text).map_err(|error| wrong(&error))?;
    nthu::parse_state(&text).map_err(|error| wrong(&error))
}

/// A position to search, and the file for its moves.
struct Job {
    position: MiniChess,
    factory: EngineFactory,
    /// Move that is written already.
    first: Packed,
    actions: Arc<Mutex<Actions>>,
}

impl Job {
    /// Searches until the search ends, the time is up, or a signal comes.
    async fn run(self, args: &Args, began: Instant) -> Result<io::Result<()>, CliError> {
        let mut signals = Signals::new()?;
        let ended = Arc::new(Notify::new());
        let actions = self.actions.clone();
        let tell_end = ended.clone();
        let request = SearchRequest {
            game: GameHistory::new(self.position.clone()),
            limits: Limits {
                depth: args.depth.map(NonZeroU16::get),
                hard: began.checked_add(args.time),
                ..Limits::default()
            },
            fallback: self.first,
            started_at: began,
            budget: Some(Budget::exactly(args.time)),
        };
        let mut thread = SearchThread::new(self.factory);
        let handle = thread.search(request, move |event| match event {
            SearchEvent::Progress(progress) => {
                if let Some(&mv) = progress.pv.first() {
                    lock(&actions).write(mv);
                }
            }
            SearchEvent::Ended(_) => tell_end.notify_one(),
        });
        select! {
            _ = signals.next() => {}
            () = ended.notified() => {}
            () = sleep(args.time.saturating_sub(began.elapsed())) => {}
        }
        handle.stop();
        let mut actions = lock(&self.actions);
        // The last, unfinished iteration may have found a better one.
        if let Some(mv) = self.position.unpack(handle.best().mv) {
            actions.write(mv);
        }
        Ok(actions.finish())
    }
}

/// A writer that panicked has written its whole line or nothing.
fn lock(actions: &Mutex<Actions>) -> MutexGuard<'_, Actions> {
    actions.lock().unwrap_or_else(PoisonError::into_inner)
}

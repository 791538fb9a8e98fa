//! Principal-variation search with iterative deepening, generic over the game.
//!
//! [`Search`] runs the main thread and the [`helpers`]. Each thread deepens in [`worker`]; an
//! [`iteration`] searches the lines of [`multipv`], each through a window of [`aspiration`]; [`node`] searches one
//! position and [`quiescence`] its captures. [`tb_probe`] probes endgame tablebases. Each heuristic has its own
//! file under [`prune`], [`reduce`] or [`extend`], with its [tunable] constants on top, and one call site.
//!
//! The constants are hand-picked in the range that other engines use, unless a file names another source.
//!
//! Sources: Chess Programming Wiki, "Principal Variation Search", "Iterative Deepening" and "Lazy SMP".

use std::{
    num::NonZeroUsize,
    ops::Neg,
    sync::{Arc, atomic::AtomicU64},
    time::Instant,
};

use zeitnot_rules::{Packed, Tactics};

use super::{
    Progress, Report, Score, StopFlag, Task, Thinker, TranspositionTable,
    eval::EngineGame,
    net::EvalFile,
    scheduler::SearchScheduler,
    score::MAX_PLY,
    syzygy::{LimitedProbe, RootProbe, Wdl},
    transposition_table::Entry,
};

mod aspiration;
mod correction;
mod extend;
mod helpers;
mod history;
mod iteration;
mod move_picker;
mod multipv;
mod node;
mod prune;
mod pv;
mod quiescence;
mod reduce;
mod tb_probe;
mod tunable;
#[cfg(any(test, feature = "tuning"))]
pub(crate) mod tuning;
mod worker;

use correction::CorrectionKey;
use helpers::Helpers;
pub(super) use history::HistoryPool;
use worker::{Role, ThreadData, Worker};

trait NodeType {
    /// Whether the node is on the principal variation, with an open window.
    const PV: bool;
    const ROOT: bool;
    type Child: NodeType;
}

struct Root;
struct PvNode;
struct NonPvNode;

impl NodeType for Root {
    const PV: bool = true;
    const ROOT: bool = true;
    type Child = PvNode;
}
impl NodeType for PvNode {
    const PV: bool = true;
    const ROOT: bool = false;
    type Child = PvNode;
}
impl NodeType for NonPvNode {
    const PV: bool = false;
    const ROOT: bool = false;
    type Child = NonPvNode;
}

/// Search window: scores outside it are only bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Window {
    alpha: Score,
    beta: Score,
}

impl Window {
    const FULL: Window = Window { alpha: Score::NEG_INFINITE, beta: Score::INFINITE };

    /// Null window that tests whether the score exceeds alpha.
    fn null_at_alpha(self) -> Window {
        Window { alpha: self.alpha, beta: self.alpha.above() }
    }

    /// Null window that tests whether the score reaches beta.
    fn null_at_beta(self) -> Window {
        Window { alpha: self.beta.below(), beta: self.beta }
    }
}

impl Neg for Window {
    type Output = Window;
    /// The window from the opponent's point of view.
    fn neg(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// Facts about a node that the heuristics read; filled once before the move loop.
struct Node<'p, G: Tactics> {
    position: &'p G,
    ply: u16,
    depth: i32,
    window: Window,
    in_check: bool,
    raw_eval: Score,
    static_eval: Score,
    /// `static_eval`, refined by the transposition table. All three evaluations are meaningless in check.
    eval: Score,
    correction_key: CorrectionKey,
    /// Entry of the transposition table, and its move.
    entry: Option<Entry>,
    tt_move: Option<G::Move>,
    /// Whether the static evaluation is higher than at our previous move.
    improving: bool,
    /// Lower bound by endgame tablebases.
    tb_floor: Score,
    /// Plies by which the table's move is extended.
    tt_extension: i32,
    /// Whether only the other moves are searched, to see how much worse they are; nothing is stored then.
    without_tt_move: bool,
}

impl<G: Tactics> Node<'_, G> {
    /// Returns whether moves may be pruned here: near the leaves, but not on the principal variation, in check, or
    /// while alpha is decisive.
    fn is_prunable<K: NodeType>(&self, max_depth: i32) -> bool {
        !K::PV && !self.in_check && self.depth <= max_depth && !self.window.alpha.is_decisive()
    }
}

/// The move that the move loop considers.
struct Candidate<M> {
    mv: M,
    /// Number of moves searched before it.
    index: usize,
    quiet: bool,
    /// A capture or promotion that loses material.
    losing: bool,
    history: i32,
}

/// Stack size of a search thread in bytes: enough for the deepest line in a debug build.
pub const STACK_SIZE: usize = 16 << 20;

/// The alpha-beta engine.
pub struct Search<G: EngineGame> {
    table: Arc<TranspositionTable>,
    /// State of each thread, kept between searches.
    threads: Vec<ThreadData<G>>,
    helpers: Helpers,
    /// Shared with other searches; `None` if this one has the machine to itself.
    scheduler: Option<Arc<SearchScheduler>>,
    tables: Option<LimitedProbe<G>>,
}

/// State that the threads of one search share.
struct Shared<'s, G: EngineGame> {
    task: &'s Task<'s, G>,
    table: &'s TranspositionTable,
    /// Raised when the main thread is done.
    done: StopFlag,
    nodes: AtomicU64,
    began: Instant,
    /// Root moves to search; empty for all legal moves.
    wanted: &'s [Packed],
    /// Result of probing the root.
    root: Option<&'s RootProbe>,
    /// Tablebases to probe below the root.
    tables: Option<&'s LimitedProbe<G>>,
    hits: AtomicU64,
}

impl<G: EngineGame> Shared<'_, G> {
    /// Returns a root score as it is reported, adjusted by the tablebases.
    fn reported_score(&self, score: Score) -> Score {
        self.root.map_or(score, |root| root.adjust(score))
    }
}

impl<G: EngineGame> Search<G> {
    /// Creates a search with this many threads.
    pub fn new(table: Arc<TranspositionTable>, threads: usize, eval_file: &EvalFile) -> Self {
        Search::with_shared(table, threads, eval_file, None, &Arc::default())
    }

    /// Creates a search that shares the machine and a pool of history tables with others.
    pub(super) fn with_shared(
        table: Arc<TranspositionTable>,
        threads: usize,
        eval_file: &EvalFile,
        scheduler: Option<Arc<SearchScheduler>>,
        history_pool: &Arc<HistoryPool>,
    ) -> Self {
        let thread = |_| ThreadData::new(G::evaluator(eval_file), history_pool.clone());
        let threads: Vec<_> = (0..threads.max(1)).map(thread).collect();
        let helpers = Helpers::new(threads.len() - 1);
        Search { table, threads, helpers, scheduler, tables: None }
    }

    /// Probes these tablebases.
    pub(crate) fn with_tablebases(self, tables: Option<LimitedProbe<G>>) -> Self {
        Search { tables, ..self }
    }
}

impl<G: EngineGame> Thinker<G> for Search<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        self.table.new_search();
        let began = Instant::now();
        let limits = task.limits;
        let late = || task.stop.is_raised() || limits.hard.is_some_and(|hard| Instant::now() >= hard);
        let asked = self.tables.as_ref();
        let root = asked.and_then(|tables| tables.root(task.game, &limits.root_moves, late));
        // Probing below the root is pointless where DTZ leads to the win by itself, or where nothing is to be won.
        let tables = asked.filter(|_| root.as_ref().is_none_or(|root| root.wdl == Wdl::Win && !root.by_dtz));
        let shared = Shared {
            task,
            table: &self.table,
            done: StopFlag::default(),
            nodes: AtomicU64::new(0),
            began,
            wanted: root.as_ref().map_or(&limits.root_moves, |root| &root.moves),
            root: root.as_ref(),
            tables,
            hits: AtomicU64::new(root.as_ref().map_or(0, |root| root.probes)),
        };
        let shared = &shared;
        let wanted = task.limits.threads.map_or(usize::MAX, NonZeroUsize::get).min(self.threads.len());
        let Some((main, others)) = self.threads[..wanted].split_first_mut() else { return Report::default() };
        let help = |data: &mut ThreadData<G>| {
            Worker::new(shared, data, Role::Helper).deepen();
        };
        self.helpers.run(others, help, || {
            let slice = self.scheduler.as_ref().map(|scheduler| scheduler.begin(task.stop));
            Worker::new(shared, main, Role::Main(slice)).deepen()
        })
    }

    fn new_game(&mut self) {
        self.threads.iter_mut().for_each(ThreadData::clear);
    }
}

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod tests;

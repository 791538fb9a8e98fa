//! Principal-variation search with iterative deepening, one text for every game.
//!
//! A search reads from top to bottom: [`Search`] leads on the thread that it is called on and starts others
//! to help it, each deepens in
//! [`worker`], an iteration goes through its [`multipv`] and opens a window for each in [`aspiration`], a node is
//! searched in [`node`] and played out in [`quiescence`]. Right after a capture or a pawn's move endgame
//! tables are asked in [`tb_probe`]. Each heuristic has a file of its own under [`prune`], [`reduce`] and
//! [`extend`], and is called by name in one place.
//!
//! Sources: Chess Programming Wiki, "Principal Variation Search", "Iterative Deepening" and "Lazy SMP".

use std::{
    num::NonZeroUsize,
    ops::Neg,
    sync::{Arc, atomic::AtomicU64},
    thread,
    time::Instant,
};

use zeitnot_rules::{Packed, Tactics};

use super::{
    Progress, Report, Score, StopFlag, Task, Thinker, TranspositionTable,
    eval::EngineGame,
    scheduler::SearchScheduler,
    score::MAX_PLY,
    syzygy::{LimitedProbe, RootProbe, Wdl},
    transposition_table::Entry,
};

mod aspiration;
mod correction;
mod extend;
mod history;
mod move_picker;
mod multipv;
mod node;
mod prune;
mod pv;
mod quiescence;
mod reduce;
mod tb_probe;
mod worker;

use correction::CorrectionKey;
pub(super) use history::HistoryPool;
use worker::{Memory, Role, Worker};

/// What kind of node is searched, known when the code is compiled.
trait NodeType {
    /// On the principal variation: the window is open.
    const PV: bool;
    /// The position that we are asked about.
    const ROOT: bool;
    /// The kind of the first child.
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

/// Only scores between the two are told apart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Window {
    alpha: Score,
    beta: Score,
}

impl Window {
    /// Every score.
    const FULL: Window = Window { alpha: Score::NEG_INFINITE, beta: Score::INFINITE };

    /// Is the score above alpha?
    fn at_alpha(self) -> Window {
        Window { alpha: self.alpha, beta: self.alpha.above() }
    }

    /// Is the score at least beta?
    fn at_beta(self) -> Window {
        Window { alpha: self.beta.below(), beta: self.beta }
    }
}

impl Neg for Window {
    type Output = Window;
    /// As the other side sees it.
    fn neg(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// What the heuristics may look at: filled once, at the top of a node.
struct Node<'p, G: Tactics> {
    position: &'p G,
    ply: u16,
    depth: i32,
    window: Window,
    check: bool,
    /// What the judge says of it.
    judged: Score,
    /// The same, corrected by what is known of positions alike: the static evaluation.
    static_eval: Score,
    /// That, bettered by the table. None of the three means anything in check.
    eval: Score,
    like: CorrectionKey,
    /// What the table knows, and the move that it would play.
    entry: Option<Entry>,
    table_move: Option<G::Move>,
    /// Is the evaluation better than at our last move?
    improving: bool,
    /// What endgame tables say that it is worth at least.
    floor: Score,
}

impl<G: Tactics> Node<'_, G> {
    /// May moves be passed over here? Near the leaves, but not where every move counts: on the principal
    /// variation, in check, or while a mate is at stake.
    fn is_prunable<K: NodeType>(&self, max_depth: i32) -> bool {
        !K::PV && !self.check && self.depth <= max_depth && !self.window.alpha.is_decisive()
    }
}

/// One move under consideration.
struct Candidate<M> {
    mv: M,
    /// How many were tried before it.
    index: usize,
    quiet: bool,
    history: i32,
}

/// The stack of a search thread: the deepest line, with room for the largest frames of a debug build.
pub const STACK_SIZE: usize = 16 << 20;

/// The engine of the house.
pub struct Search<G: EngineGame> {
    judge: G::Evaluator,
    table: Arc<TranspositionTable>,
    /// One for each thread.
    memories: Vec<Memory<G>>,
    /// Shared with other searches; `None`: the machine is ours.
    scheduler: Option<Arc<SearchScheduler>>,
    /// Who knows how its endgames end.
    tables: Option<LimitedProbe<G>>,
}

/// What the threads of one search share.
struct Shared<'s, G: EngineGame> {
    task: &'s Task<'s, G>,
    judge: &'s G::Evaluator,
    table: &'s TranspositionTable,
    /// Raised when the first thread is done: the others only help it.
    done: StopFlag,
    nodes: AtomicU64,
    began: Instant,
    /// Only these moves at the root; empty: all that are legal.
    wanted: &'s [Packed],
    /// What endgame tables say of the root.
    root: Option<&'s RootProbe>,
    /// Asked below the root.
    tables: Option<&'s LimitedProbe<G>>,
    /// How often they knew.
    hits: AtomicU64,
}

impl<G: EngineGame> Shared<'_, G> {
    /// A score of the root, as it is told.
    fn told(&self, score: Score) -> Score {
        self.root.map_or(score, |root| root.told(score))
    }
}

impl<G: EngineGame> Search<G> {
    /// A search with this many threads.
    pub fn new(table: Arc<TranspositionTable>, threads: usize) -> Self {
        Search::with_shared(table, threads, None, &Arc::default())
    }

    /// The same, one of many that take turns and hand down what memory they need.
    pub(super) fn with_shared(
        table: Arc<TranspositionTable>,
        threads: usize,
        scheduler: Option<Arc<SearchScheduler>>,
        history_pool: &Arc<HistoryPool>,
    ) -> Self {
        let memories = (0..threads.max(1)).map(|_| Memory::new(history_pool.clone())).collect();
        Search { judge: G::Evaluator::default(), table, memories, scheduler, tables: None }
    }

    /// The same, with endgame tables to ask.
    pub fn with_tablebases(self, tables: Option<LimitedProbe<G>>) -> Self {
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
        // Where the moves lead to the end by themselves, or there is nothing to win, the search is about the rest.
        let tables = asked.filter(|_| root.as_ref().is_none_or(|root| root.end == Wdl::Win && !root.certain));
        let shared = Shared {
            task,
            judge: &self.judge,
            table: &self.table,
            done: StopFlag::default(),
            nodes: AtomicU64::new(0),
            began,
            wanted: root.as_ref().map_or(&limits.root_moves, |root| &root.moves),
            root: root.as_ref(),
            tables,
            hits: AtomicU64::new(root.as_ref().map_or(0, |root| root.asked)),
        };
        let shared = &shared;
        thread::scope(|scope| {
            let wanted = task.limits.threads.map_or(usize::MAX, NonZeroUsize::get);
            let mut memories = self.memories.iter_mut().take(wanted);
            let Some(leader) = memories.next() else { return Report::default() };
            for memory in memories {
                let thread = thread::Builder::new().name("search".into()).stack_size(STACK_SIZE);
                // Where the system has no thread to give, the search is weaker.
                let _ = thread.spawn_scoped(scope, move || Worker::new(shared, memory, Role::Helps).deepen());
            }
            let slice = self.scheduler.as_ref().map(|scheduler| scheduler.begin(task.stop));
            Worker::new(shared, leader, Role::Leads(slice)).deepen()
        })
    }

    fn new_game(&mut self) {
        self.memories.iter_mut().for_each(Memory::clear);
    }
}

#[cfg(test)]
mod tests;

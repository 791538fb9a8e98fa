//! A thinker that plays by a textbook algorithm with iterative deepening.

use std::{num::NonZeroU16, ops::ControlFlow, sync::Arc, time::Instant};

use super::{Algorithm, Evaluation, Options, SimpleTable, TreeSearch, tree_search::Found};
use crate::{Best, EngineGame, Evaluator, Progress, Report, Task, Thinker, scheduler::SearchScheduler};

/// Reported share of the best move in permille: the nodes of each move are not counted here.
const ASSUMED_SHARE: u16 = 600;

/// Plays by one of the algorithms.
pub(crate) struct TextbookThinker<G: EngineGame> {
    algorithm: Algorithm,
    options: Options,
    evaluator: G::Evaluator,
    table: Option<SimpleTable>,
    /// Maximum depth.
    depth: NonZeroU16,
    /// Shared with other searches; `None` if this one has the machine to itself.
    scheduler: Option<Arc<SearchScheduler>>,
}

impl<G: EngineGame> TextbookThinker<G> {
    /// Creates a thinker that searches to at most this depth, and that of the algorithm.
    pub(crate) fn new(algorithm: Algorithm, depth: NonZeroU16) -> Self {
        let options = algorithm.options();
        let table = options.table.then(SimpleTable::new);
        TextbookThinker {
            algorithm,
            options,
            evaluator: G::Evaluator::default(),
            table,
            depth,
            scheduler: None,
        }
    }

    /// Evaluates the leaves differently.
    pub(crate) fn with_evaluation(self, evaluation: Evaluation) -> Self {
        TextbookThinker { options: Options { evaluation, ..self.options }, ..self }
    }

    /// Shares the machine with other searches.
    pub(crate) fn with_scheduler(self, scheduler: Arc<SearchScheduler>) -> Self {
        TextbookThinker { scheduler: Some(scheduler), ..self }
    }

    /// Publishes a move before searching: the one already published, or the first that is allowed.
    fn publish_initial(&mut self, task: &Task<'_, G>) {
        let position = task.game.now();
        let wanted = &task.limits.root_moves;
        let held = task.best.read().mv;
        let moves = position.moves();
        let mut moves = moves.iter().map(|&mv| position.pack(mv));
        let is_wanted = |mv| wanted.is_empty() || wanted.contains(&mv);
        let keeps = is_wanted(held) && position.unpack(held).is_some();
        if let Some(mv) = if keeps { Some(held) } else { moves.find(|&mv| is_wanted(mv)) } {
            let state = self.evaluator.refresh(position);
            let score = self.evaluator.evaluate(&state, position);
            task.best.publish(Best { mv, score, depth: 0 });
        }
    }
}

impl<G: EngineGame> Thinker<G> for TextbookThinker<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let began = Instant::now();
        self.publish_initial(task);
        let Task { limits, stop, .. } = *task;
        let deepest =
            self.depth.get().min(limits.depth.unwrap_or(u16::MAX)).clamp(1, self.options.max_depth());
        let mut search = TreeSearch::new(
            self.algorithm,
            &self.options,
            &mut self.evaluator,
            self.table.as_mut(),
            limits,
            stop,
        );
        search.slice = self.scheduler.as_ref().map(|scheduler| scheduler.begin(stop));
        let mut done = 0;
        search.deepen(task.game.now(), 1..=deepest, |search, depth, found| {
            done = depth;
            report(task, began, search, depth, found)
        });
        Report { nodes: search.nodes, depth: done, time: began.elapsed() }
    }

    fn new_game(&mut self) {
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }
}

/// Publishes the move of a finished iteration and returns whether to go on.
fn report<G: EngineGame>(
    task: &Task<'_, G>,
    began: Instant,
    search: &TreeSearch<'_, G>,
    depth: u16,
    Found { score, mv }: Found<G::Move>,
) -> ControlFlow<()> {
    // The game is over.
    let Some(mv) = mv else { return ControlFlow::Break(()) };
    task.best.publish(Best { mv: task.game.now().pack(mv), score, depth });
    (task.watch)(&Progress {
        multipv: 1,
        depth,
        seldepth: search.seldepth,
        best_move_share: ASSUMED_SHARE,
        score,
        nodes: search.nodes,
        time: began.elapsed(),
        tb_hits: 0,
        hashfull: search.table.as_ref().map_or(0, |table| table.hashfull()),
        pv: vec![mv],
    })?;
    let mate = score.mate_moves().and_then(|moves| u16::try_from(moves).ok());
    match task.limits.mate.zip(mate) {
        Some((wanted, found)) if found <= wanted => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

//! A player by the book: deepens until its time is over, and plays what the last depth has found.

use std::{num::NonZeroU16, ops::ControlFlow, sync::Arc, time::Instant};

use super::{Algorithm, MAX_DEPTH, Options, SimpleTable, TreeSearch, tree_search::Found};
use crate::{Best, EngineGame, Evaluator, Progress, Report, Task, Thinker, scheduler::SearchScheduler};

/// Nobody counts here what each move has cost; a clock that asks is told what is usual, in thousandths.
const USUAL_SHARE: u16 = 600;

/// One of the algorithms as a thinker.
pub struct TextbookThinker<G: EngineGame> {
    algorithm: Algorithm,
    options: Options,
    judge: G::Evaluator,
    memory: Option<SimpleTable>,
    /// It searches no deeper than this.
    depth: NonZeroU16,
    /// Shared with other searches; `None`: the machine is ours.
    scheduler: Option<Arc<SearchScheduler>>,
}

impl<G: EngineGame> TextbookThinker<G> {
    /// A player by this algorithm that searches no deeper than so many plies, nor than [`MAX_DEPTH`].
    pub fn new(algorithm: Algorithm, depth: NonZeroU16) -> Self {
        let options = algorithm.options();
        let memory = options.table.then(SimpleTable::new);
        TextbookThinker { algorithm, options, judge: G::Evaluator::default(), memory, depth, scheduler: None }
    }

    /// The same, one of many that take turns.
    pub(crate) fn with_scheduler(self, scheduler: Arc<SearchScheduler>) -> Self {
        TextbookThinker { scheduler: Some(scheduler), ..self }
    }

    /// Before anything is searched: the move that stands there already, or the first that is asked for.
    fn publish_first(&self, task: &Task<'_, G>) {
        let position = task.game.now();
        let wanted = &task.limits.root_moves;
        let held = task.best.read().mv;
        let moves = position.moves();
        let mut moves = moves.iter().map(|&mv| position.pack(mv));
        let is_wanted = |mv| wanted.is_empty() || wanted.contains(&mv);
        let keeps = is_wanted(held) && position.unpack(held).is_some();
        if let Some(mv) = if keeps { Some(held) } else { moves.find(|&mv| is_wanted(mv)) } {
            let score = self.judge.score(&self.judge.root(position), position);
            task.best.publish(Best { mv, score, depth: 0 });
        }
    }
}

impl<G: EngineGame> Thinker<G> for TextbookThinker<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let began = Instant::now();
        self.publish_first(task);
        let Task { limits, stop, .. } = *task;
        let deepest = self.depth.get().min(limits.depth.unwrap_or(MAX_DEPTH)).clamp(1, MAX_DEPTH);
        let mut walk =
            TreeSearch::new(self.algorithm, &self.options, &self.judge, self.memory.as_mut(), limits, stop);
        walk.slice = self.scheduler.as_ref().map(|scheduler| scheduler.begin(stop));
        let mut done = 0;
        walk.deepen(task.game.now(), 1..=deepest, |walk, depth, found| {
            done = depth;
            tell(task, began, walk, depth, found)
        });
        Report { nodes: walk.nodes, depth: done, time: began.elapsed() }
    }

    fn new_game(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.clear();
        }
    }
}

/// An iteration is done: publishes its move, and asks whether another is wanted.
fn tell<G: EngineGame>(
    task: &Task<'_, G>,
    began: Instant,
    walk: &TreeSearch<'_, G>,
    depth: u16,
    Found { score, mv }: Found<G::Move>,
) -> ControlFlow<()> {
    // Where the game is over, there is nothing to deepen.
    let Some(mv) = mv else { return ControlFlow::Break(()) };
    task.best.publish(Best { mv: task.game.now().pack(mv), score, depth });
    (task.watch)(&Progress {
        multipv: 1,
        depth,
        seldepth: walk.seldepth,
        best_move_share: USUAL_SHARE,
        score,
        nodes: walk.nodes,
        time: began.elapsed(),
        tb_hits: 0,
        hashfull: walk.memory.as_ref().map_or(0, |memory| memory.fullness()),
        pv: vec![mv],
    })?;
    let mate = score.mate_moves().and_then(|moves| u16::try_from(moves).ok());
    match task.limits.mate.zip(mate) {
        Some((wanted, found)) if found <= wanted => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

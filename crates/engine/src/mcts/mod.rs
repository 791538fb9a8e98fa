//! Monte Carlo tree search, generic over the game and over the policy: UCT with random playouts, or PUCT with
//! static evaluation.
//!
//! [`Mcts`] keeps the [`tree`] between moves and starts the threads, [`worker`] runs the iterations, and the trait
//! in [`policy`] is implemented by [`uct`] and [`puct`].
//!
//! An iteration counts as a node in [`Limits::nodes`](super::Limits::nodes) and [`Report::nodes`]. A search to
//! depth n ends after 64·2ⁿ iterations; the reported depth is the average length of the descents. PUCT also ends
//! when the root is proved won, lost or drawn. Hints are ignored: the tree knows more.
//!
//! Sources: Browne et al., "A Survey of Monte Carlo Tree Search Methods" (2012), and those named in the files.

use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicU64},
    thread,
    time::Instant,
};

use zeitnot_rules::GameHistory;

use super::{Report, StopFlag, Task, Thinker, eval::EngineGame, scheduler::SearchScheduler};

mod node;
mod policy;
mod puct;
mod tree;
mod uct;
mod win_value;
mod worker;

use node::Node;
use policy::Policy;
use tree::Tree;
use worker::{Shared, Worker};

pub(crate) type Uct<G> = Mcts<G, uct::UctPolicy>;
pub(crate) type Puct<G> = Mcts<G, puct::PuctPolicy>;

/// Iterations of a search to depth 0; each ply doubles them.
const ITERATIONS_AT_DEPTH_0: u64 = 64;
/// Deepest search whose iterations can be counted.
const MAX_DEPTH: u16 = 48;

pub(crate) struct Mcts<G: EngineGame, F> {
    tree: Tree,
    /// Position at the root of the tree; `None` if the tree is empty or outdated.
    root: Option<G>,
    /// One of each for each thread.
    policies: Vec<(F, G::Evaluator)>,
    /// Shared with other searches; `None` if this one has the machine to itself.
    scheduler: Option<Arc<SearchScheduler>>,
}

impl<G: EngineGame, F: Policy<G>> Mcts<G, F> {
    /// Creates a search with this many threads and a tree of at most this many MiB, less if memory is short. A full
    /// tree is searched on without growing.
    pub(crate) fn new(mib: usize, threads: usize) -> Self {
        Self::with_nodes(mib.saturating_mul(1 << 20) / size_of::<Node>(), threads)
    }

    fn with_nodes(nodes: usize, threads: usize) -> Self {
        let policies = (0..threads.max(1)).map(|_| Default::default()).collect();
        Mcts { tree: Tree::new(nodes), root: None, policies, scheduler: None }
    }

    /// Shares the machine with other searches.
    pub(super) fn with_scheduler(self, scheduler: Arc<SearchScheduler>) -> Self {
        Mcts { scheduler: Some(scheduler), ..self }
    }

    /// Makes the current position the root, keeping its subtree if it was at most two plies below the last root.
    fn reroot(&mut self, line: &GameHistory<G>, keep: bool) {
        let path = self.root.take().filter(|_| keep).and_then(|root| self.path_from(root, line));
        match path {
            Some(path) => path.into_iter().for_each(|child| self.tree.promote(child)),
            None => self.tree.clear(),
        }
        // The root must have room for its children, and must not be terminal.
        let root = self.tree.root();
        if root.children().is_none() && (self.tree.is_full() || root.proof() != node::Proof::OPEN) {
            self.tree.clear();
        }
    }

    /// Returns the child index at each ply from the last root to the current position.
    fn path_from(&self, root: G, line: &GameHistory<G>) -> Option<Vec<usize>> {
        let now = line.now();
        let keys: Vec<_> = line.keys().iter().copied().chain([now.key()]).rev().take(3).collect();
        let plies = keys.iter().position(|&key| key == root.key())?;
        let (mut position, mut node, mut path) = (root, self.tree.root(), Vec::new());
        for &key in keys[..plies].iter().rev() {
            let children = self.tree.children(node);
            let after = |child: &Node| {
                let next = position.after(position.unpack(child.mv())?);
                Some(next).filter(|next| next.key() == key)
            };
            let (at, next) = children.iter().enumerate().find_map(|(at, child)| Some((at, after(child)?)))?;
            path.push(at);
            (node, position) = (&children[at], next);
        }
        (position.reversible_plies() == now.reversible_plies()).then_some(path)
    }
}

impl<G: EngineGame, F: Policy<G>> Thinker<G> for Mcts<G, F> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let (position, limits) = (task.game.now(), task.limits);
        let mut moves = position.moves();
        moves.retain(|mv| limits.root_moves.is_empty() || limits.root_moves.contains(&position.pack(*mv)));
        if moves.is_empty() {
            return Report::default();
        }
        let began = Instant::now();
        // A root restricted to some moves cannot share its tree with other searches.
        let whole = limits.root_moves.is_empty();
        self.reroot(task.game, whole);
        let by_depth = limits.depth.map_or(u64::MAX, |depth| ITERATIONS_AT_DEPTH_0 << depth.min(MAX_DEPTH));
        let shared = Shared {
            task,
            tree: &self.tree,
            done: StopFlag::default(),
            iterations: AtomicU64::new(0),
            bound: limits.nodes.unwrap_or(u64::MAX).min(by_depth),
            began,
        };
        let shared = &shared;
        let report = thread::scope(|scope| {
            let wanted = limits.threads.map_or(usize::MAX, NonZeroUsize::get);
            let mut policies = self.policies.iter_mut().take(wanted);
            let Some(policy) = policies.next() else { return Report::default() };
            let mut main = Worker::new(shared, policy);
            main.expand_root(&mut moves);
            for policy in policies {
                let thread = thread::Builder::new().name("search".into());
                // Without the thread the search is only weaker.
                let _ = thread.spawn_scoped(scope, move || Worker::new(shared, policy).run_helper());
            }
            main.run_main(self.scheduler.as_ref().map(|scheduler| scheduler.begin(task.stop)))
        });
        self.root = whole.then(|| position.clone());
        report
    }

    fn new_game(&mut self) {
        self.root = None;
    }
}

#[cfg(test)]
mod tests;

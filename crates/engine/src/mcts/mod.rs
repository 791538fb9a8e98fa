//! Monte-Carlo tree search, one text for every game and for two forms: the one of textbooks and courses,
//! and a strong one.
//!
//! A search reads from top to bottom: [`Mcts`] keeps the [`tree`] from move to move and starts the threads,
//! each goes down it and back up in [`worker`], and what the two forms do differently, [`uct`] and
//! [`puct`], is told by one trait in [`policy`].
//!
//! An iteration is what other searches call a node: [`Limits::nodes`](super::Limits::nodes) bounds them and
//! [`Report::nodes`] counts them, so that a position can be studied with a budget of either time or
//! iterations. A search to depth n ends after 64·2ⁿ iterations. The depth it tells is how deep the paths
//! went on average. The strong form also ends when the root is proved to be won, lost or drawn. Hints are not
//! looked at: what the last search knows of the moves is in the tree.
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

/// The course form: random playouts.
pub type Uct<G> = Mcts<G, uct::UctPolicy>;
/// The strong form: static evaluations.
pub type Puct<G> = Mcts<G, puct::PuctPolicy<G>>;

/// A search to depth 0 would have so many iterations, each ply doubles them.
const AT_DEPTH_0: u64 = 64;

/// The search in one of its forms.
pub struct Mcts<G: EngineGame, F> {
    judge: G::Evaluator,
    tree: Tree,
    /// The position at the root of the tree; `None`: the tree is empty, or of no more use.
    root: Option<G>,
    /// One for each thread.
    forms: Vec<F>,
    /// Shared with other searches; `None`: the machine is ours.
    scheduler: Option<Arc<SearchScheduler>>,
}

impl<G: EngineGame, F: Policy<G>> Mcts<G, F> {
    /// A search with this many threads and a tree of at most this many MiB. When the tree is full, the search
    /// goes on in it as it is. Where there is less memory, the tree is smaller.
    pub fn new(mib: usize, threads: usize) -> Self {
        Self::with_nodes(mib.saturating_mul(1 << 20) / size_of::<Node>(), threads)
    }

    fn with_nodes(nodes: usize, threads: usize) -> Self {
        let forms = (0..threads.max(1)).map(|_| F::default()).collect();
        Mcts { judge: G::Evaluator::default(), tree: Tree::new(nodes), root: None, forms, scheduler: None }
    }

    /// The same, one of many that take turns.
    pub(super) fn with_scheduler(self, scheduler: Arc<SearchScheduler>) -> Self {
        Mcts { scheduler: Some(scheduler), ..self }
    }

    /// Makes the position of the line the root: what is known of it is kept if it stood at most two plies
    /// below the last root, and the tree begins anew if not.
    fn reroot(&mut self, line: &GameHistory<G>, keep: bool) {
        let way = self.root.take().filter(|_| keep).and_then(|root| self.way(root, line));
        match way {
            Some(way) => way.into_iter().for_each(|child| self.tree.promote(child)),
            None => self.tree.clear(),
        }
        // The root must have room for its children, and what the rules ended is no root.
        let root = self.tree.root();
        if root.children().is_none() && (self.tree.is_full() || root.proof() != node::Proof::Open) {
            self.tree.clear();
        }
    }

    /// Which child to take at each ply from the last root to the position of the line.
    fn way(&self, root: G, line: &GameHistory<G>) -> Option<Vec<usize>> {
        let now = line.now();
        let keys: Vec<_> = line.keys().iter().copied().chain([now.key()]).rev().take(3).collect();
        let plies = keys.iter().position(|&key| key == root.key())?;
        let (mut position, mut node, mut way) = (root, self.tree.root(), Vec::new());
        for &key in keys[..plies].iter().rev() {
            let children = self.tree.children(node);
            let after = |child: &Node| {
                let mut next = position.clone();
                next.play(position.unpack(child.mv())?);
                Some(next).filter(|next| next.key() == key)
            };
            let (at, next) = children.iter().enumerate().find_map(|(at, child)| Some((at, after(child)?)))?;
            way.push(at);
            (node, position) = (&children[at], next);
        }
        (position.reversible_plies() == now.reversible_plies()).then_some(way)
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
        // A root without some of its moves is of no use to the next search, nor the last one's to it.
        let whole = limits.root_moves.is_empty();
        self.reroot(task.game, whole);
        let by_depth = limits.depth.map_or(u64::MAX, |depth| AT_DEPTH_0 << depth.min(48));
        let shared = Shared {
            task,
            judge: &self.judge,
            tree: &self.tree,
            done: StopFlag::default(),
            iterations: AtomicU64::new(0),
            bound: limits.nodes.unwrap_or(u64::MAX).min(by_depth),
            began,
        };
        let shared = &shared;
        let report = thread::scope(|scope| {
            let wanted = limits.threads.map_or(usize::MAX, NonZeroUsize::get);
            let mut forms = self.forms.iter_mut().take(wanted);
            let Some(form) = forms.next() else { return Report::default() };
            let mut leader = Worker::new(shared, form);
            leader.grow_root(&mut moves);
            for form in forms {
                let thread = thread::Builder::new().name("search".into());
                // Where the system has no thread to give, the search is weaker.
                let _ = thread.spawn_scoped(scope, move || Worker::new(shared, form).help());
            }
            leader.lead(self.scheduler.as_ref().map(|scheduler| scheduler.begin(task.stop)))
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

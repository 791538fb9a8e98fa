//! One search thread: selection, expansion, evaluation and backpropagation.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use arrayvec::ArrayVec;

use zeitnot_rules::{Key, Moves, Outcome};

use super::{
    node::{Node, Proof},
    policy::{ChildStats, Policy},
    tree::Tree,
    win_value,
};
use crate::{
    Best, Progress, Report, Score, StopFlag, Task,
    eval::{EngineGame, Evaluator, State},
    limits::RaiseOnDrop,
    repetition::repeats,
    scheduler::TimeSlice,
    score::MAX_PLY,
};

/// Iterations between two checks of the clock.
const CLOCK_CHECK_INTERVAL: u64 = 8;
/// Iterations before the first report; each later one comes after a quarter more.
const FIRST_REPORT: u64 = 64;

/// State that the threads of one search share.
pub(super) struct Shared<'s, G: EngineGame> {
    pub(crate) task: &'s Task<'s, G>,
    pub(crate) tree: &'s Tree,
    /// Raised when the search is over.
    pub(crate) done: StopFlag,
    pub(crate) iterations: AtomicU64,
    pub(crate) bound: u64,
    pub(crate) began: Instant,
}

pub(super) struct Worker<'s, G: EngineGame, F> {
    shared: &'s Shared<'s, G>,
    policy: &'s mut F,
    evaluator: &'s mut G::Evaluator,
    state: State<G>,
    /// Keys of the game, followed by those of the current descent.
    keys: Vec<Key>,
    /// Number of keys that belong to the game.
    played: usize,
    iterations: u64,
    /// Total and maximum length of the descents.
    plies: u64,
    longest: u16,
}

type Path<'s> = ArrayVec<&'s Node, { MAX_PLY as usize + 1 }>;

enum Step<'s, M> {
    Down(&'s Node, M),
    /// The descent ends with a value for the side that moved here.
    End(f32),
}

impl<'s, G: EngineGame, F: Policy<G>> Worker<'s, G, F> {
    pub(crate) fn new(shared: &'s Shared<'s, G>, (policy, evaluator): &'s mut (F, G::Evaluator)) -> Self {
        let mut keys = shared.task.game.keys().to_vec();
        let (played, state) = (keys.len(), evaluator.refresh(shared.task.game.now()));
        keys.reserve(usize::from(MAX_PLY) + 1);
        Worker { shared, policy, evaluator, state, keys, played, iterations: 0, plies: 0, longest: 0 }
    }

    /// Runs the main thread: keeps the time, publishes and reports.
    pub(crate) fn run_main(mut self, mut slice: Option<TimeSlice<'_>>) -> Report {
        let _others_stop = RaiseOnDrop(Some(&self.shared.done));
        let Shared { task, .. } = self.shared;
        let mut next_report = FIRST_REPORT;
        while self.iterate() {
            if !self.iterations.is_multiple_of(CLOCK_CHECK_INTERVAL) {
                continue;
            }
            self.publish();
            if let Some(slice) = &mut slice {
                slice.yield_if_due(task.stop);
            }
            let all = self.shared.iterations.load(Relaxed);
            if task.limits.hard.is_some_and(|hard| Instant::now() >= hard) {
                break;
            }
            if all >= next_report {
                next_report = all + all / 4;
                if self.report().is_break() {
                    break;
                }
            }
        }
        self.publish();
        let _ = self.report();
        let nodes = self.shared.iterations.load(Relaxed);
        Report { nodes, depth: self.depth(), time: self.shared.began.elapsed() }
    }

    /// Runs a helper thread until the main thread is done.
    pub(crate) fn run_helper(mut self) {
        while self.iterate() {}
    }

    /// Runs one iteration; returns false if the search is over.
    fn iterate(&mut self) -> bool {
        let Shared { task, tree, done, iterations, bound, .. } = self.shared;
        let settled = F::SOLVES && tree.root().proof() != Proof::OPEN;
        if settled || done.is_raised() || task.stop.is_raised() {
            return false;
        }
        if iterations.fetch_add(1, Relaxed) >= *bound {
            iterations.fetch_sub(1, Relaxed);
            return false;
        }
        let (path, value) = self.descend();
        self.iterations += 1;
        self.plies += path.len() as u64 - 1;
        self.longest = self.longest.max(path.len() as u16 - 1);
        self.backpropagate(&path, value);
        true
    }

    /// Descends from the root to a leaf; the value is for the side that moved there.
    fn descend(&mut self) -> (Path<'s>, f32) {
        let shared = self.shared;
        self.keys.truncate(self.played);
        let (mut position, mut state) = (shared.task.game.now().clone(), self.state.clone());
        let (mut node, mut path, mut may_expand) = (shared.tree.root(), Path::new(), true);
        loop {
            let step = self.step(node, &position, &state, path.len(), &mut may_expand);
            node.add_virtual_loss();
            path.push(node);
            match step {
                Step::End(value) => return (path, value),
                Step::Down(child, mv) => {
                    self.keys.push(position.key());
                    state = self.evaluator.update(&state, &position, mv);
                    position.play(mv);
                    node = child;
                }
            }
        }
    }

    fn step(
        &mut self,
        node: &'s Node,
        position: &G,
        state: &State<G>,
        ply: usize,
        may_expand: &mut bool,
    ) -> Step<'s, G::Move> {
        // Before the rules: a position that comes again did not end the game, and repetition comes before the count.
        if ply > 0 && repeats(position, &self.keys, self.played) {
            return Step::End(0.0);
        }
        if ply > 0 && node.visits() == 0 {
            prove_by_rules(node, position);
        }
        if *may_expand
            && node.visits() >= F::EXPAND_AFTER
            && node.proof() == Proof::OPEN
            && !self.shared.tree.is_full()
        {
            *may_expand = !self.expand(node, position, state);
        }
        if let Some(value) = node.proof().value() {
            return Step::End(value);
        }
        let child = self.select(node).filter(|_| ply < usize::from(MAX_PLY));
        match child.and_then(|child| Some((child, position.unpack(child.mv())?))) {
            Some((child, mv)) => Step::Down(child, mv),
            None => Step::End(-self.policy.evaluate_leaf(self.evaluator, position, state)),
        }
    }

    /// Expands a leaf unless another thread does; a position without moves is proved instead.
    fn expand(&mut self, node: &Node, position: &G, state: &State<G>) -> bool {
        if !node.claim_expansion() {
            return false;
        }
        let mut moves = position.moves();
        if moves.is_empty() {
            node.prove(proof_of(position.no_moves_outcome(), position));
            node.set_children(None);
        } else {
            self.expand_with(node, position, state, &mut moves);
        }
        true
    }

    /// Expands the root with the requested moves, unless it is expanded already.
    pub(crate) fn expand_root(&mut self, moves: &mut Moves<G::Move>) {
        let (root, state) = (self.shared.tree.root(), self.state.clone());
        if root.claim_expansion() {
            self.expand_with(root, self.shared.task.game.now(), &state, moves);
        }
    }

    fn expand_with(&mut self, node: &Node, position: &G, state: &State<G>, moves: &mut Moves<G::Move>) {
        let priors = self.policy.priors(self.evaluator, position, state, moves);
        let children = moves.iter().map(|&mv| position.pack(mv)).zip(priors);
        self.shared.tree.expand(node, children);
    }

    /// Selects the child with the highest score; a proved win comes first, proved losses last.
    fn select(&self, node: &Node) -> Option<&'s Node> {
        let exploration = F::exploration((node.visits() as f32).max(1.0));
        let mean = -node.mean().unwrap_or_default();
        let mut most = (f32::NEG_INFINITY, None);
        for child in self.shared.tree.children(node) {
            let selection_score = match child.proof() {
                proof if F::SOLVES && proof.is_win() => return Some(child),
                proof if F::SOLVES && proof.is_loss() => f32::MIN,
                _ => F::selection_score(&ChildStats(child), exploration, mean),
            };
            if selection_score > most.0 {
                most = (selection_score, Some(child));
            }
        }
        most.1
    }

    /// Updates all nodes of the path with the value of the leaf, and proves them where possible.
    fn backpropagate(&self, path: &[&Node], mut value: f32) {
        let mut settled = F::SOLVES && path.last().is_some_and(|leaf| leaf.proof() != Proof::OPEN);
        let mut above = path.iter().rev().skip(1);
        for node in path.iter().rev() {
            node.add_result(value);
            value = -value;
            if let Some(parent) = above.next().filter(|_| settled) {
                settled = self.shared.tree.prove_by_children(parent);
                value = parent.proof().value().unwrap_or(value);
            }
        }
    }

    /// Publishes the best move, once one is known.
    fn publish(&self) {
        if let Some(best) = self.shared.tree.best(self.shared.tree.root()) {
            self.shared.task.best.publish(Best { mv: best.mv(), score: score_of(best), depth: self.depth() });
        }
    }

    fn report(&self) -> ControlFlow<()> {
        let Shared { task, tree, iterations, began, .. } = self.shared;
        let Some(best) = tree.best(tree.root()) else { return ControlFlow::Continue(()) };
        let share = u64::from(best.visits()) * 1000 / u64::from(tree.root().visits().max(1));
        (task.watch)(&Progress {
            multipv: 1,
            depth: self.depth(),
            seldepth: self.longest.max(1),
            best_move_share: share.min(1000) as u16,
            score: score_of(best),
            nodes: iterations.load(Relaxed),
            time: began.elapsed(),
            tb_hits: 0,
            hashfull: tree.hashfull(),
            pv: self.pv(),
        })
    }

    fn depth(&self) -> u16 {
        (self.plies / self.iterations.max(1)).clamp(1, u64::from(MAX_PLY)) as u16
    }

    fn pv(&self) -> Vec<G::Move> {
        let (mut position, mut node) = (self.shared.task.game.now().clone(), self.shared.tree.root());
        let mut pv = Vec::new();
        while let Some(child) = self.shared.tree.best(node)
            && let Some(mv) = position.unpack(child.mv())
        {
            pv.push(mv);
            position.play(mv);
            node = child;
        }
        pv
    }
}

/// Proves a new node by the rules of the game. Stalemate is found later, at its expansion.
fn prove_by_rules<G: EngineGame>(node: &Node, position: &G) {
    let outcome = match position.quick_outcome() {
        Outcome::Ongoing if position.is_check() && position.moves().is_empty() => position.no_moves_outcome(),
        outcome => outcome,
    };
    if outcome.is_over() {
        node.prove(proof_of(outcome, position));
    }
}

fn proof_of<G: EngineGame>(outcome: Outcome, position: &G) -> Proof {
    match outcome {
        Outcome::Ongoing => Proof::OPEN,
        outcome => Proof::of(-Score::from_outcome(outcome, position.side_to_move(), 0)),
    }
}

/// Score of a child of the root, counted from the root.
fn score_of(child: &Node) -> Score {
    let mean = || child.mean().map_or(Score::ZERO, win_value::to_score);
    child.proof().score().map_or_else(mean, |score| score.to_root(1))
}

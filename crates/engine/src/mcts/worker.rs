//! One thread of the search: iteration after iteration down the tree and back up, until told to stop.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use arrayvec::ArrayVec;

use zeitnot_rules::{Key, Moves, Outcome};

use super::{
    node::{Node, Proof},
    policy::{Policy, Seen},
    tree::Tree,
    win_value,
};
use crate::{
    Best, Progress, Report, Score, StopFlag, Task,
    eval::{EngineGame, Evaluator, State},
    limits::RaiseOnDrop,
    scheduler::TimeSlice,
    score::MAX_PLY,
};

/// The clock is looked at once in so many iterations.
const BETWEEN_LOOKS: u64 = 8;
/// The watcher hears of the search after so many iterations, and then whenever there are a quarter more.
const FIRST_NEWS: u64 = 64;

/// What the threads of one search share.
pub(super) struct Shared<'s, G: EngineGame> {
    pub task: &'s Task<'s, G>,
    pub judge: &'s G::Evaluator,
    pub tree: &'s Tree,
    /// Raised when the search is over.
    pub done: StopFlag,
    /// Begun so far, by all threads.
    pub iterations: AtomicU64,
    /// No more iterations than this.
    pub bound: u64,
    pub began: Instant,
}

/// A thread at work.
pub(super) struct Worker<'s, G: EngineGame, F> {
    shared: &'s Shared<'s, G>,
    form: &'s mut F,
    state: State<G>,
    /// The keys of the line, and then of the path.
    keys: Vec<Key>,
    /// How many of them are of the line.
    played: usize,
    iterations: u64,
    /// The lengths of the paths, added up, and the longest.
    plies: u64,
    longest: u16,
}

/// The nodes from the root to a leaf.
type Path<'s> = ArrayVec<&'s Node, { MAX_PLY as usize + 1 }>;

/// Where a path goes on.
enum Step<'s, M> {
    Down(&'s Node, M),
    /// Here it ends, with a value for the side that moved here.
    End(f32),
}

impl<'s, G: EngineGame, F: Policy<G>> Worker<'s, G, F> {
    pub fn new(shared: &'s Shared<'s, G>, form: &'s mut F) -> Self {
        let mut keys = shared.task.game.keys().to_vec();
        let (played, state) = (keys.len(), shared.judge.root(shared.task.game.now()));
        keys.reserve(usize::from(MAX_PLY) + 1);
        Worker { shared, form, state, keys, played, iterations: 0, plies: 0, longest: 0 }
    }

    /// Keeps the time, publishes, and tells the watcher.
    pub fn lead(mut self, mut slice: Option<TimeSlice<'_>>) -> Report {
        let _others_stop = RaiseOnDrop(Some(&self.shared.done));
        let Shared { task, .. } = self.shared;
        let mut news = FIRST_NEWS;
        while self.iterate() {
            if !self.iterations.is_multiple_of(BETWEEN_LOOKS) {
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
            if all >= news {
                news = all + all / 4;
                if self.tell().is_break() {
                    break;
                }
            }
        }
        self.publish();
        let _ = self.tell();
        let nodes = self.shared.iterations.load(Relaxed);
        Report { nodes, depth: self.depth(), time: self.shared.began.elapsed() }
    }

    /// Makes the tree grow until the leader is done.
    pub fn help(mut self) {
        while self.iterate() {}
    }

    /// One iteration, unless the search is over.
    fn iterate(&mut self) -> bool {
        let Shared { task, tree, done, iterations, bound, .. } = self.shared;
        let settled = F::PROVES && tree.root().proof() != Proof::Open;
        if settled || done.is_raised() || task.stop.is_raised() {
            return false;
        }
        if iterations.fetch_add(1, Relaxed) >= *bound {
            iterations.fetch_sub(1, Relaxed);
            return false;
        }
        let (path, value) = self.walk();
        self.iterations += 1;
        self.plies += path.len() as u64 - 1;
        self.longest = self.longest.max(path.len() as u16 - 1);
        self.back_up(&path, value);
        true
    }

    /// Goes down from the root to a leaf. The value is that of the side that moved there.
    fn walk(&mut self) -> (Path<'s>, f32) {
        let shared = self.shared;
        self.keys.truncate(self.played);
        let (mut position, mut state) = (shared.task.game.now().clone(), self.state.clone());
        let (mut node, mut path, mut may_grow) = (shared.tree.root(), Path::new(), true);
        loop {
            let step = self.step(node, &position, &state, path.len(), &mut may_grow);
            node.enter();
            path.push(node);
            match step {
                Step::End(value) => return (path, value),
                Step::Down(child, mv) => {
                    self.keys.push(position.key());
                    state = shared.judge.step(&state, &position, mv);
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
        may_grow: &mut bool,
    ) -> Step<'s, G::Move> {
        if ply > 0 && node.visits() == 0 {
            prove_by_rules(node, position);
        }
        if *may_grow && node.visits() >= F::RIPE && node.proof() == Proof::Open && !self.shared.tree.is_full()
        {
            *may_grow = !self.grow(node, position, state);
        }
        if let Some(value) = node.proof().value() {
            return Step::End(value);
        }
        if ply > 0 && self.is_repetition(position) {
            return Step::End(0.0);
        }
        let child = self.select(node).filter(|_| ply < usize::from(MAX_PLY));
        match child.and_then(|child| Some((child, position.unpack(child.mv())?))) {
            Some((child, mv)) => Step::Down(child, mv),
            None => Step::End(-self.form.value(position, state)),
        }
    }

    /// Gives a leaf children, if nobody has or does; or finds that there are no moves.
    fn grow(&mut self, node: &Node, position: &G, state: &State<G>) -> bool {
        if !node.claim() {
            return false;
        }
        let mut moves = position.moves();
        if moves.is_empty() {
            node.prove(proof_of(position.stuck(), position));
            node.adopt(None);
        } else {
            self.grow_by(node, position, state, &mut moves);
        }
        true
    }

    /// Gives the root the children that are wanted, before the search begins, unless it has them already.
    pub fn grow_root(&mut self, moves: &mut Moves<G::Move>) {
        let (root, state) = (self.shared.tree.root(), self.state.clone());
        if root.claim() {
            self.grow_by(root, self.shared.task.game.now(), &state, moves);
        }
    }

    fn grow_by(&mut self, node: &Node, position: &G, state: &State<G>, moves: &mut Moves<G::Move>) {
        let priors = self.form.priors(position, state, moves);
        let children = moves.iter().map(|&mv| position.pack(mv)).zip(priors);
        self.shared.tree.grow(node, children);
    }

    /// The child that wants most to be visited; one that wins needs no other, and one that loses is the last.
    fn select(&self, node: &Node) -> Option<&'s Node> {
        let growth = F::growth((node.visits() as f32).max(1.0));
        let mean = -node.mean().unwrap_or_default();
        let mut most = (f32::NEG_INFINITY, None);
        for child in self.shared.tree.children(node) {
            let urgency = match child.proof() {
                Proof::Won(_) if F::PROVES => return Some(child),
                Proof::Lost(_) if F::PROVES => f32::MIN,
                _ => F::urgency(&Seen(child), growth, mean),
            };
            if urgency > most.0 {
                most = (urgency, Some(child));
            }
        }
        most.1
    }

    /// Tells all nodes of the path what was found at its end; what is certain goes up as far as it is.
    fn back_up(&self, path: &[&Node], mut value: f32) {
        let mut settled = F::PROVES && path.last().is_some_and(|leaf| leaf.proof() != Proof::Open);
        let mut above = path.iter().rev().skip(1);
        for node in path.iter().rev() {
            node.leave(value);
            value = -value;
            if let Some(parent) = above.next().filter(|_| settled) {
                settled = self.shared.tree.settle(parent);
                value = parent.proof().value().unwrap_or(value);
            }
        }
    }

    /// Did the position stand on the path before, or twice in the game?
    fn is_repetition(&self, position: &G) -> bool {
        let key = position.key();
        let reversible = (position.reversible_plies() as usize).min(self.keys.len());
        let mut before = 0;
        // The same side is to move every second ply, and no position comes back sooner than after four.
        for at in (4..=reversible).step_by(2).map(|distance| self.keys.len() - distance) {
            before += usize::from(self.keys[at] == key);
            if self.keys[at] == key && (at >= self.played || before == 2) {
                return true;
            }
        }
        false
    }

    /// Puts the best move into the slot, once one is known.
    fn publish(&self) {
        if let Some(best) = self.shared.tree.best(self.shared.tree.root()) {
            self.shared.task.best.publish(Best { mv: best.mv(), score: score_of(best), depth: self.depth() });
        }
    }

    fn tell(&self) -> ControlFlow<()> {
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
            hashfull: tree.fill(),
            pv: self.pv(),
        })
    }

    /// How long the paths are on average.
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

/// Notes what the rules say of a position that is seen for the first time. That it is stalemate shows later,
/// when it is to get children.
fn prove_by_rules<G: EngineGame>(node: &Node, position: &G) {
    let outcome = match position.settled() {
        Outcome::Ongoing if position.is_check() && position.moves().is_empty() => position.stuck(),
        outcome => outcome,
    };
    if outcome.is_over() {
        node.prove(proof_of(outcome, position));
    }
}

/// What the end of the game is for the side that moved last.
fn proof_of<G: EngineGame>(outcome: Outcome, position: &G) -> Proof {
    match outcome {
        Outcome::Ongoing => Proof::Open,
        Outcome::Draw(_) => Proof::Drawn,
        Outcome::Win(side, _) if side == position.side() => Proof::Lost(0),
        Outcome::Win(..) => Proof::Won(0),
    }
}

/// What a child of the root is worth.
fn score_of(child: &Node) -> Score {
    match child.proof() {
        Proof::Won(plies) => Score::mate_in((plies + 1).min(MAX_PLY)),
        Proof::Lost(plies) => Score::mated_in((plies + 1).min(MAX_PLY)),
        Proof::Drawn => Score::ZERO,
        Proof::Open => child.mean().map_or(Score::ZERO, win_value::score),
    }
}

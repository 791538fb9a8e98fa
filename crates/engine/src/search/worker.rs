//! One thread of a search: its memory, its path, its clock, and the loop that deepens.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Instant,
};

use zeitnot_rules::{Key, Outcome, Packed, PieceTo, Tactics};

use super::{
    MAX_PLY, Node, Report, Score, Shared,
    correction::{Correction, CorrectionKey},
    history::{Before, History, HistoryPool, Tried},
    move_picker::{MoveStack, Pick, Picker, Scope},
    multipv::Lines,
    pv::PvTable,
};
use crate::{
    Best, Stopped,
    eval::{EngineGame, Evaluator, State},
    limits::RaiseOnDrop,
    scheduler::TimeSlice,
};

/// No iteration goes deeper: tables keep depths in a byte, and lines end at [`MAX_PLY`].
pub(super) const MAX_DEPTH: u16 = 120;

/// The clock is looked at once in so many nodes.
const NODES_BETWEEN_LOOKS: u64 = 1024;

/// What a thread keeps from search to search, so that searching allocates nothing.
pub(super) struct Memory<G: Tactics> {
    history: History<G>,
    correction: Correction,
    pile: MoveStack<G::Move>,
    pv: PvTable,
    path: Box<[Step]>,
    keys: Vec<Key>,
}

/// A ply of the path from the root.
#[derive(Copy, Clone)]
struct Step {
    /// `None`: a pass.
    played: Option<PieceTo>,
    /// `None`: in check, or not known yet.
    eval: Option<Score>,
}

impl<G: Tactics> Memory<G> {
    pub fn new(history_pool: Arc<HistoryPool>) -> Self {
        let path = vec![Step { played: None, eval: None }; MAX_PLY as usize + 1];
        Memory {
            history: History::new(history_pool),
            correction: Correction::new(),
            pile: MoveStack::new(),
            pv: PvTable::new(),
            path: path.into_boxed_slice(),
            keys: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.history.clear();
        self.correction.clear();
    }
}

/// What a thread is for.
pub(super) enum Role<'s> {
    /// The first thread keeps the time and publishes; it runs when it is its turn.
    Leads(Option<TimeSlice<'s>>),
    /// The others fill the table for it.
    Helps,
}

/// A thread at work.
pub(super) struct Worker<'s, G: EngineGame> {
    pub shared: &'s Shared<'s, G>,
    memory: &'s mut Memory<G>,
    role: Role<'s>,
    /// The depth of this iteration.
    pub iteration: i32,
    /// Keys in `memory.keys` that were on the board before the search began.
    played_keys: usize,
    nodes: u64,
    /// How many of them the others have been told of.
    told: u64,
    next_look: u64,
    pub seldepth: u16,
    root: RootEffort,
    pub lines: Lines<G::Move>,
}

/// Where the nodes of an iteration went.
struct RootEffort {
    /// Counted before the iteration began.
    before: u64,
    best: Packed,
    on_best: u64,
}

impl RootEffort {
    /// The best move changes, or is found again with another window.
    fn found(&mut self, mv: Packed, nodes: u64) {
        let already = if self.best == mv { self.on_best } else { 0 };
        (self.best, self.on_best) = (mv, already + nodes);
    }

    /// The part of the best move, in thousandths.
    fn share(&self, nodes: u64) -> u16 {
        let all = (nodes - self.before).max(1);
        (self.on_best.min(all) * 1000 / all) as u16
    }
}

impl<'s, G: EngineGame> Worker<'s, G> {
    pub fn new(shared: &'s Shared<'s, G>, memory: &'s mut Memory<G>, role: Role<'s>) -> Self {
        memory.history.new_search();
        memory.pile.clear();
        memory.keys.clear();
        memory.keys.extend_from_slice(shared.task.game.keys());
        memory.keys.reserve(MAX_PLY as usize + 1);
        let played_keys = memory.keys.len();
        let mut worker = Worker {
            shared,
            memory,
            role,
            iteration: 0,
            played_keys,
            nodes: 0,
            told: 0,
            next_look: 0,
            seldepth: 0,
            root: RootEffort { before: 0, best: Packed::NONE, on_best: 0 },
            lines: Lines::new(1),
        };
        worker.lines = Lines::new(worker.most_lines(shared.task.game.now()));
        worker
    }

    /// Searches deeper and deeper until a limit is reached.
    pub fn deepen(mut self) -> Report {
        let _others_stop = RaiseOnDrop(self.leads().then_some(&self.shared.done));
        let root = self.shared.task.game.now();
        let state = self.shared.judge.root(root);
        let mut score = self.shared.judge.score(&state, root);
        self.publish_first(root, score);
        let mut depth = 0;
        while depth < self.shared.task.limits.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH) {
            self.iteration = i32::from(depth) + 1;
            self.seldepth = 0;
            self.root = RootEffort { before: self.nodes, best: Packed::NONE, on_best: 0 };
            match self.iterate(root, &state, score) {
                Ok(found) => score = found,
                Err(Stopped) => break,
            }
            debug_assert!(self.memory.pile.is_empty(), "a node has left moves behind");
            depth += 1;
            if self.leads() && (self.tell(depth).is_break() || self.has_mate(score)) {
                break;
            }
        }
        Report { nodes: self.all_nodes(), depth, time: self.shared.began.elapsed() }
    }

    /// Before anything is searched: what the table knows, or the move that stands there already.
    fn publish_first(&self, root: &G, score: Score) {
        let known = self.shared.table.probe(root.key()).map(|e| e.mv);
        let known = known.filter(|&mv| root.unpack(mv).is_some() && self.is_wanted(mv));
        let mv = known.unwrap_or(self.shared.task.best.read().mv);
        if self.leads() {
            self.shared.task.best.publish(Best { mv, score, depth: 0 });
        }
    }

    /// A better move at the root, found since this count of nodes.
    pub fn publish(&mut self, root: &G, mv: G::Move, score: Score, since: u64) {
        if self.lines.is_behind_first() {
            return;
        }
        let mv = root.pack(mv);
        self.root.found(mv, self.nodes - since);
        self.decide(mv, score);
    }

    /// This is the move to play.
    pub fn decide(&self, mv: Packed, score: Score) {
        if self.leads() {
            let depth = self.iteration as u16;
            self.shared.task.best.publish(Best { mv, score: self.shared.told(score), depth });
        }
    }

    /// Counted by this thread.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The part of this iteration's nodes that was spent on the best move, in thousandths.
    pub fn share(&self) -> u16 {
        self.root.share(self.nodes)
    }

    /// Is the mate found that was asked for?
    fn has_mate(&self, score: Score) -> bool {
        let found = score.mate_moves().filter(|_| score > Score::ZERO).map(|moves| moves.unsigned_abs());
        self.shared.task.limits.mate.zip(found).is_some_and(|(wanted, found)| found <= wanted)
    }

    /// Are only some moves asked for at the root?
    pub fn is_restricted(&self) -> bool {
        !self.shared.task.limits.root_moves.is_empty() || self.lines.is_behind_first()
    }

    /// Is the move among those asked for at the root, and in no line yet?
    pub fn is_wanted(&self, mv: Packed) -> bool {
        let wanted = self.shared.wanted;
        (wanted.is_empty() || wanted.contains(&mv)) && !self.lines.has(mv)
    }

    pub fn all_nodes(&self) -> u64 {
        self.shared.nodes.load(Relaxed) + self.nodes - self.told
    }

    /// Counts a node, and stops the search when a limit is reached.
    #[inline]
    pub fn count(&mut self, ply: u16) -> Result<(), Stopped> {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        if self.nodes < self.next_look { Ok(()) } else { self.look_at_limits() }
    }

    /// The next node looks at the limits: something took its time.
    pub fn look_soon(&mut self) {
        self.next_look = self.nodes;
    }

    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leads(_))
    }

    #[cold]
    fn look_at_limits(&mut self) -> Result<(), Stopped> {
        let Shared { task, done, nodes, .. } = self.shared;
        if let Role::Leads(Some(slice)) = &mut self.role {
            slice.yield_if_due(task.stop);
        }
        let all = nodes.fetch_add(self.nodes - self.told, Relaxed) + self.nodes - self.told;
        self.told = self.nodes;
        let left = task.limits.nodes.map_or(u64::MAX, |limit| limit.saturating_sub(all));
        self.next_look = self.nodes + left.min(NODES_BETWEEN_LOOKS);
        let late = || self.leads() && task.limits.hard.is_some_and(|hard| Instant::now() >= hard);
        if task.stop.is_raised() || done.is_raised() || left == 0 || late() { Err(Stopped) } else { Ok(()) }
    }

    /// The score of a position that needs no search: the game is over, or repeats itself.
    pub fn settled(&self, position: &G, ply: u16) -> Option<Score> {
        match position.settled() {
            Outcome::Ongoing if self.is_repetition(position) => Some(Score::ZERO),
            Outcome::Ongoing => None,
            outcome => Some(Score::from_outcome(outcome, position.side(), ply)),
        }
    }

    /// Did the position stand on the path before, or in the game as often as makes a draw?
    fn is_repetition(&self, position: &G) -> bool {
        let key = position.key();
        let reversible = (position.reversible_plies() as usize).min(self.memory.keys.len());
        let mut before = 0;
        // The same side is to move every second ply, and no position comes back sooner than after four.
        for distance in (4..=reversible).step_by(2) {
            let at = self.memory.keys.len() - distance;
            if self.memory.keys[at] == key {
                before += 1;
                if at >= self.played_keys || before + 1 >= G::OCCURRENCES {
                    return true;
                }
            }
        }
        false
    }

    /// Plays a move on the path. What is not taken back because of a stop is forgotten with the search.
    fn enter(&mut self, position: &G, mv: G::Move, ply: u16) {
        self.memory.keys.push(position.key());
        self.memory.path[ply as usize].played = Some(position.piece_to(mv));
    }

    /// Takes the last move of the path back.
    fn leave(&mut self) {
        self.memory.keys.pop();
    }

    /// The position behind a move. Its place in the table is on its way while the move is played.
    pub fn child(&self, position: &G, mv: G::Move) -> G {
        if let Some(key) = position.key_ahead(mv) {
            self.shared.table.prefetch(key);
        }
        let mut child = position.clone();
        child.play(mv);
        child
    }

    /// Runs a search behind a move, which led to this child.
    pub fn follow(
        &mut self,
        node: (&G, &State<G>, u16),
        mv: G::Move,
        child: &G,
        search: impl FnOnce(&mut Self, &State<G>) -> Result<Score, Stopped>,
    ) -> Result<Score, Stopped> {
        let (position, state, ply) = node;
        self.shared.table.prefetch(child.key());
        let next = self.shared.judge.step(state, position, mv);
        self.enter(position, mv, ply);
        let score = search(self, &next)?;
        self.leave();
        Ok(score)
    }

    /// Runs a search behind a pass.
    pub fn pass(
        &mut self,
        node: &Node<'_, G>,
        search: impl FnOnce(&mut Self) -> Result<Score, Stopped>,
    ) -> Result<Score, Stopped> {
        self.memory.keys.push(node.position.key());
        self.memory.path[node.ply as usize].played = None;
        let score = search(self)?;
        self.leave();
        Ok(score)
    }

    /// The move on the path at this ply; `None`: a pass.
    pub fn played(&self, ply: u16) -> Option<PieceTo> {
        self.memory.path[ply as usize].played
    }

    /// The last two moves before this ply, the latest first.
    pub fn before(&self, ply: u16) -> Before {
        [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.played(ply)))
    }

    /// Notes the static evaluation at this ply. Is it better than at our last move?
    pub fn improves(&mut self, ply: u16, eval: Option<Score>) -> bool {
        self.memory.path[ply as usize].eval = eval;
        let back = |plies| ply.checked_sub(plies).and_then(|ply| self.memory.path[ply as usize].eval);
        eval.zip(back(2).or_else(|| back(4))).is_some_and(|(now, then)| now > then)
    }

    /// Hands out the moves of a node, after this one.
    pub fn picker(&self, scope: Scope, table_move: Option<G::Move>) -> Picker<G> {
        Picker::new(scope, table_move, &self.memory.pile)
    }

    /// The next move of a node.
    pub fn pick(
        &mut self,
        picker: &mut Picker<G>,
        position: &G,
        before: &Before,
        ply: u16,
    ) -> Option<Pick<G::Move>> {
        let Memory { history, pile, .. } = &mut *self.memory;
        picker.next(position, history, pile, before, ply)
    }

    /// The others need not be looked at.
    pub fn leave_moves(&mut self, picker: Picker<G>) {
        picker.leave(&mut self.memory.pile);
    }

    /// A quiet move cut: remembers it, and the ones tried before it.
    pub fn remember(&mut self, node: &Node<'_, G>, mv: G::Move, tried: &Tried<G::Move>) {
        let before = self.before(node.ply);
        self.memory.history.cutoff(node.position, mv, tried, &before, (node.ply, node.depth));
    }

    pub fn pv(&mut self) -> &mut PvTable {
        &mut self.memory.pv
    }

    /// What the judge says of a position.
    pub fn judge(&self, state: &State<G>, position: &G) -> Score {
        self.shared.judge.score(state, position)
    }

    /// By what the position at this ply is known again.
    pub fn likeness(&self, state: &State<G>, position: &G, ply: u16) -> CorrectionKey {
        let last = ply.checked_sub(1).and_then(|ply| self.played(ply));
        CorrectionKey::new(position, self.shared.judge.partial_keys(state), last)
    }

    /// The static evaluation: what the judge says, and what it was wrong by in positions alike.
    pub fn corrected(&self, judged: Score, like: &CorrectionKey) -> Score {
        judged.offset(self.memory.correction.of(like))
    }

    /// A search of the node came to this score.
    pub fn learn(&mut self, node: &Node<'_, G>, score: Score) {
        let error = score.get() - node.static_eval.get();
        self.memory.correction.learn(&node.like, error, node.depth);
    }
}

//! One search thread: its stack, its histories, its limits, and iterative deepening.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Instant,
};

use zeitnot_rules::{Key, Outcome, Packed, PieceTo, Reason};

use super::{
    MAX_PLY, Node, Report, Score, Shared,
    correction::{Correction, CorrectionKey},
    history::{History, HistoryPool, Place, TriedQuiets},
    move_picker::{MovePicker, MoveStack, PickedMove, Scope},
    multipv::{MultiPv, RootLine},
    pv::PvTable,
};
use crate::{
    Best, Stopped,
    eval::{EngineGame, Evaluator, State},
    limits::RaiseOnDrop,
    repetition::repeats,
    scheduler::TimeSlice,
};

/// Deepest iteration: tables keep depths in a byte, and lines end at [`MAX_PLY`].
pub(super) const MAX_DEPTH: u16 = 120;

/// Nodes between two checks of the limits.
const LIMIT_CHECK_INTERVAL: u64 = 1024;

/// Thread state that is kept between searches, so that searching does not allocate.
pub(super) struct ThreadData<G: EngineGame> {
    evaluator: G::Evaluator,
    history: History<G>,
    correction: Correction,
    move_stack: MoveStack<G::Move>,
    pv: PvTable,
    stack: Box<[StackEntry]>,
    keys: Vec<Key>,
}

/// One ply of the line from the root.
#[derive(Copy, Clone, Default)]
struct StackEntry {
    /// `None` for a null move.
    played: Option<PieceTo>,
    /// Whether it is neither a capture nor a promotion.
    quiet: bool,
    /// Static evaluation; `None` in check, or if not computed yet.
    eval: Option<Score>,
    /// Whether the move is extended by two plies.
    doubled: bool,
    /// Plies by which the search of the move is reduced now.
    reduction: i32,
}

impl<G: EngineGame> ThreadData<G> {
    pub(crate) fn new(evaluator: G::Evaluator, history_pool: Arc<HistoryPool>) -> Self {
        let stack = vec![StackEntry::default(); MAX_PLY as usize + 1];
        ThreadData {
            evaluator,
            history: History::new(history_pool),
            correction: Correction::new(),
            move_stack: MoveStack::new(),
            pv: PvTable::new(),
            stack: stack.into_boxed_slice(),
            keys: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.history.clear();
        self.correction.clear();
    }
}

pub(super) enum Role<'s> {
    /// Keeps the time and publishes moves; runs when the scheduler lets it.
    Main(Option<TimeSlice<'s>>),
    /// Fills the transposition table for the main thread.
    Helper,
}

pub(super) struct Worker<'s, G: EngineGame> {
    pub(crate) shared: &'s Shared<'s, G>,
    data: &'s mut ThreadData<G>,
    role: Role<'s>,
    pub(crate) iteration: i32,
    /// Number of `data.keys` that belong to the game, not to the search.
    played_keys: usize,
    nodes: u64,
    /// Nodes already added to the shared counter.
    reported_nodes: u64,
    next_check: u64,
    pub(crate) seldepth: u16,
    root: RootEffort,
    pub(crate) multipv: MultiPv<G::Move>,
}

struct RootEffort {
    /// Node count when the iteration began.
    before: u64,
    best: Packed,
    on_best: u64,
}

impl RootEffort {
    /// Adds nodes to the best move, which may be new or found again with another window.
    fn found(&mut self, mv: Packed, nodes: u64) {
        let already = if self.best == mv { self.on_best } else { 0 };
        (self.best, self.on_best) = (mv, already + nodes);
    }

    /// Share of the best move in the nodes of the iteration, in permille.
    fn share(&self, nodes: u64) -> u16 {
        let all = (nodes - self.before).max(1);
        (self.on_best.min(all) * 1000 / all) as u16
    }
}

impl<'s, G: EngineGame> Worker<'s, G> {
    pub(crate) fn new(shared: &'s Shared<'s, G>, data: &'s mut ThreadData<G>, role: Role<'s>) -> Self {
        data.history.new_search();
        data.move_stack.clear();
        data.keys.clear();
        data.keys.extend_from_slice(shared.task.game.keys());
        data.keys.reserve(MAX_PLY as usize + 1);
        let played_keys = data.keys.len();
        let mut worker = Worker {
            shared,
            data,
            role,
            iteration: 0,
            played_keys,
            nodes: 0,
            reported_nodes: 0,
            next_check: 0,
            seldepth: 0,
            root: RootEffort { before: 0, best: Packed::NONE, on_best: 0 },
            multipv: MultiPv::new(1),
        };
        worker.multipv = MultiPv::new(worker.line_count(shared.task.game.now()));
        worker
    }

    pub(crate) fn deepen(mut self) -> Report {
        let _others_stop = RaiseOnDrop(self.is_main().then_some(&self.shared.done));
        let root = self.shared.task.game.now();
        let state = self.data.evaluator.refresh(root);
        let mut score = self.raw_eval(&state, root);
        self.publish_initial(root, score);
        let mut depth = 0;
        while depth < self.shared.task.limits.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH) {
            self.iteration = i32::from(depth) + 1;
            self.seldepth = 0;
            self.root = RootEffort { before: self.nodes, best: Packed::NONE, on_best: 0 };
            match self.iterate(root, &state, score) {
                Ok(found) => score = found,
                Err(Stopped) => break,
            }
            debug_assert!(self.data.move_stack.is_empty(), "a node has left moves behind");
            depth += 1;
            if let (1, Some(&RootLine { mv, score, .. })) = (depth, self.multipv.found.first()) {
                self.publish_move(mv, score);
            }
            if self.is_main() && (self.report(depth).is_break() || self.has_mate(score)) {
                break;
            }
        }
        Report { nodes: self.all_nodes(), depth, time: self.shared.began.elapsed() }
    }

    /// Publishes the table's move, or keeps the published one, before the first iteration.
    fn publish_initial(&self, root: &G, score: Score) {
        let known = self.shared.table.probe(root.table_key()).map(|e| e.mv);
        let known = known.filter(|&mv| root.unpack(mv).is_some() && self.is_wanted(mv));
        let mv = known.unwrap_or(self.shared.task.best.read().mv);
        if self.is_main() {
            self.shared.task.best.publish(Best { mv, score, depth: 0 });
        }
    }

    /// Publishes a new best root move, whose search began at this node count. The moves of the first iteration wait
    /// for its end: before it, a better one may be among those not searched yet, and the fallback move stands.
    pub(crate) fn publish(&mut self, root: &G, mv: G::Move, score: Score, since: u64) {
        if self.multipv.is_secondary() {
            return;
        }
        let mv = root.pack(mv);
        self.root.found(mv, self.nodes - since);
        if self.iteration > 1 {
            self.publish_move(mv, score);
        }
    }

    pub(crate) fn publish_move(&self, mv: Packed, score: Score) {
        if self.is_main() {
            let depth = self.iteration as u16;
            self.shared.task.best.publish(Best { mv, score: self.shared.reported_score(score), depth });
        }
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Share of the best root move in this iteration's nodes, in permille.
    pub(crate) fn share(&self) -> u16 {
        self.root.share(self.nodes)
    }

    /// Returns whether the mate of `go mate` has been found.
    fn has_mate(&self, score: Score) -> bool {
        let found = score.mate_moves().filter(|_| score > Score::ZERO).map(|moves| moves.unsigned_abs());
        self.shared.task.limits.mate.zip(found).is_some_and(|(wanted, found)| found <= wanted)
    }

    /// Returns whether only some of the root moves are searched.
    pub(crate) fn is_restricted(&self) -> bool {
        !self.shared.task.limits.root_moves.is_empty() || self.multipv.is_secondary()
    }

    /// Returns whether a root move is to be searched: requested, and not yet the first of a line.
    pub(crate) fn is_wanted(&self, mv: Packed) -> bool {
        let wanted = self.shared.wanted;
        (wanted.is_empty() || wanted.contains(&mv)) && !self.multipv.has(mv)
    }

    pub(crate) fn all_nodes(&self) -> u64 {
        self.shared.nodes.load(Relaxed) + self.nodes - self.reported_nodes
    }

    /// Counts a node and stops the search at a limit.
    #[inline]
    pub(crate) fn count(&mut self, ply: u16) -> Result<(), Stopped> {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        if self.nodes < self.next_check { Ok(()) } else { self.check_limits() }
    }

    /// Checks the limits at the next node, after something slow.
    pub(crate) fn check_limits_soon(&mut self) {
        self.next_check = self.nodes;
    }

    pub(crate) fn is_main(&self) -> bool {
        matches!(self.role, Role::Main(_))
    }

    #[cold]
    fn check_limits(&mut self) -> Result<(), Stopped> {
        let Shared { task, done, nodes, .. } = self.shared;
        if let Role::Main(Some(slice)) = &mut self.role {
            slice.yield_if_due(task.stop);
        }
        let all =
            nodes.fetch_add(self.nodes - self.reported_nodes, Relaxed) + self.nodes - self.reported_nodes;
        self.reported_nodes = self.nodes;
        let left = task.limits.nodes.map_or(u64::MAX, |limit| limit.saturating_sub(all));
        self.next_check = self.nodes + left.min(LIMIT_CHECK_INTERVAL);
        let late = || self.is_main() && task.limits.hard.is_some_and(|hard| Instant::now() >= hard);
        if task.stop.is_raised() || done.is_raised() || left == 0 || late() { Err(Stopped) } else { Ok(()) }
    }

    /// Returns the score of a position where the game is over or repeats.
    pub(crate) fn terminal_score(&self, position: &G, ply: u16) -> Option<Score> {
        match position.quick_outcome() {
            // Repetition comes before the count.
            Outcome::Ongoing | Outcome::Win(_, Reason::Material(_))
                if repeats(position, &self.data.keys, self.played_keys) =>
            {
                Some(Score::ZERO)
            }
            Outcome::Ongoing => None,
            outcome => Some(Score::from_outcome(outcome, position.side_to_move(), ply)),
        }
    }

    /// Pushes a move. A stop leaves moves on the stack; the next search clears it.
    fn push_move(&mut self, position: &G, mv: G::Move, ply: u16) {
        self.data.keys.push(position.key());
        let (played, quiet) = (Some(position.piece_to(mv)), position.gain(mv) == 0);
        let entry = &mut self.data.stack[ply as usize];
        *entry = StackEntry { played, quiet, eval: entry.eval, ..StackEntry::default() };
    }

    fn pop_move(&mut self) {
        self.data.keys.pop();
    }

    /// Returns the position after a move, prefetching its table entry meanwhile.
    pub(crate) fn child(&self, position: &G, mv: G::Move) -> G {
        if let Some(key) = position.key_ahead(mv) {
            self.shared.table.prefetch(key);
        }
        position.after(mv)
    }

    /// Searches the child that a move leads to.
    pub(crate) fn search_child(
        &mut self,
        node: (&G, &State<G>, u16),
        mv: G::Move,
        child: &G,
        search: impl FnOnce(&mut Self, &State<G>) -> Result<Score, Stopped>,
    ) -> Result<Score, Stopped> {
        let (position, state, ply) = node;
        self.shared.table.prefetch(child.table_key());
        let next = self.data.evaluator.update(state, position, mv);
        self.push_move(position, mv, ply);
        let score = search(self, &next)?;
        self.pop_move();
        Ok(score)
    }

    /// Searches the position after a null move.
    pub(crate) fn search_null_move(
        &mut self,
        node: &Node<'_, G>,
        search: impl FnOnce(&mut Self) -> Result<Score, Stopped>,
    ) -> Result<Score, Stopped> {
        self.data.keys.push(node.position.key());
        let entry = &mut self.data.stack[node.ply as usize];
        *entry = StackEntry { eval: entry.eval, ..StackEntry::default() };
        let score = search(self)?;
        self.pop_move();
        Ok(score)
    }

    /// The move at this ply; `None` for a null move.
    pub(crate) fn move_at(&self, ply: u16) -> Option<PieceTo> {
        self.data.stack[ply as usize].played
    }

    /// Notes by how many plies the move that is searched at this ply is extended.
    pub(crate) fn note_extension(&mut self, ply: u16, plies: i32) {
        self.data.stack[ply as usize].doubled = plies > 1;
    }

    /// Notes by how many plies the search of the move at this ply is reduced.
    pub(crate) fn note_reduction(&mut self, ply: u16, plies: i32) {
        self.data.stack[ply as usize].reduction = plies;
    }

    /// Plies by which the search of this ply is reduced.
    pub(crate) fn reduction_before(&self, ply: u16) -> i32 {
        ply.checked_sub(1).map_or(0, |ply| self.data.stack[ply as usize].reduction)
    }

    /// Static evaluation before the last move, for the side that made it.
    pub(crate) fn eval_before(&self, ply: u16) -> Option<Score> {
        ply.checked_sub(1).and_then(|ply| self.data.stack[ply as usize].eval)
    }

    /// Number of moves before this ply that are extended by two plies.
    pub(crate) fn double_extensions(&self, ply: u16) -> usize {
        self.data.stack[..ply as usize].iter().filter(|entry| entry.doubled).count()
    }

    /// This ply and the moves before it, by which histories are looked up.
    pub(crate) fn place(&self, ply: u16) -> Place {
        let before = [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.move_at(ply)));
        Place { ply, before }
    }

    /// Stores the static evaluation of this ply and returns whether it is higher than at our previous move.
    pub(crate) fn update_improving(&mut self, ply: u16, eval: Option<Score>) -> bool {
        self.data.stack[ply as usize].eval = eval;
        let back = |plies| ply.checked_sub(plies).and_then(|ply| self.data.stack[ply as usize].eval);
        eval.zip(back(2).or_else(|| back(4))).is_some_and(|(now, then)| now > then)
    }

    /// Creates a move picker that starts with this move.
    pub(crate) fn picker(&self, scope: Scope, tt_move: Option<G::Move>) -> MovePicker<G> {
        MovePicker::new(scope, tt_move, &self.data.move_stack)
    }

    pub(crate) fn pick(
        &mut self,
        picker: &mut MovePicker<G>,
        position: &G,
        place: &Place,
    ) -> Option<PickedMove<G::Move>> {
        let ThreadData { history, move_stack, .. } = &mut *self.data;
        picker.next(position, history, move_stack, place)
    }

    pub(crate) fn finish_moves(&mut self, picker: MovePicker<G>) {
        picker.finish(&mut self.data.move_stack);
    }

    /// Rewards a quiet move that caused a cutoff, and penalises those tried before it.
    pub(crate) fn update_history(&mut self, node: &Node<'_, G>, mv: G::Move, tried: &TriedQuiets<G::Move>) {
        let place = self.place(node.ply);
        self.data.history.cutoff(node.position, mv, tried, &place, node.depth);
    }

    /// Adds a bonus to the histories of the quiet move that led to a node.
    pub(crate) fn reward_last_move(&mut self, node: &Node<'_, G>, bonus: i32) {
        let Some(ply) = node.ply.checked_sub(1) else { return };
        let StackEntry { played: Some(mv), quiet: true, .. } = self.data.stack[ply as usize] else { return };
        let place = self.place(ply);
        self.data.history.add(!node.position.side_to_move(), mv, &place, bonus);
    }

    pub(crate) fn pv(&mut self) -> &mut PvTable {
        &mut self.data.pv
    }

    pub(crate) fn raw_eval(&mut self, state: &State<G>, position: &G) -> Score {
        self.data.evaluator.evaluate(state, position)
    }

    /// Correction-history key of the position at this ply.
    pub(crate) fn correction_key(&self, state: &State<G>, position: &G, ply: u16) -> CorrectionKey {
        let last = ply.checked_sub(1).and_then(|ply| self.move_at(ply));
        CorrectionKey::new(position, self.data.evaluator.partial_keys(state), last)
    }

    pub(crate) fn corrected_eval(&self, raw_eval: Score, correction_key: &CorrectionKey) -> Score {
        raw_eval.offset(self.data.correction.get(correction_key))
    }

    /// Updates correction history with the score of a search.
    pub(crate) fn update_correction(&mut self, node: &Node<'_, G>, score: Score) {
        let error = score.get() - node.static_eval.get();
        self.data.correction.update(&node.correction_key, error, node.depth);
    }
}

//! Searching one node: early cutoffs, then the move loop.

use std::ops::ControlFlow;

use zeitnot_rules::{Packed, Tactics};

use super::{
    Candidate, MAX_PLY, Node, NodeType, NonPvNode, Score, Window, Worker, extend,
    history::{self, TriedQuiets},
    move_picker::{PickedMove, Scope},
    prune, reduce,
    tb_probe::TbResult,
};
use crate::{
    Stopped,
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

impl Entry {
    /// Returns the stored score if it cuts off a search of this depth and window.
    pub(super) fn cutoff_score(&self, depth: i32, window: Window, ply: u16) -> Option<Score> {
        let score = self.score.to_root(ply);
        let fits = self.bound.cuts_off(score, window.alpha, window.beta);
        (i32::from(self.depth) >= depth && fits).then_some(score)
    }

    /// Returns the stored score where it bounds the true one better than the static evaluation.
    fn refined_eval(&self, eval: Score, ply: u16) -> Score {
        let score = self.score.to_root(ply);
        let says_more = match self.bound {
            Bound::Exact => true,
            Bound::Lower => score > eval,
            Bound::Upper => score < eval,
        };
        if says_more && !score.is_decisive() { score } else { eval }
    }
}

/// Returns whether the score of a node measures the error of its static evaluation: not where the best move is
/// a capture, nor where the score is a bound that the evaluation satisfies.
fn updates_correction<G: Tactics>(
    node: &Node<'_, G>,
    bound: Bound,
    score: Score,
    mv: Option<G::Move>,
) -> bool {
    let quiet = mv.is_none_or(|mv| node.position.gain(mv) == 0);
    let beyond = match bound {
        Bound::Exact => true,
        Bound::Lower => score > node.static_eval,
        Bound::Upper => score < node.static_eval,
    };
    !node.in_check && quiet && beyond && !score.is_decisive()
}

impl<G: EngineGame> Worker<'_, G> {
    /// Searches a position to a depth; fail-soft.
    pub(super) fn node<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
    ) -> Result<Score, Stopped> {
        let in_check = position.is_check();
        let depth = depth + extend::check::plies(in_check, ply, self.iteration);
        if depth <= 0 || ply >= MAX_PLY {
            return self.quiesce::<K>(position, state, window, ply);
        }
        self.count(ply)?;
        self.pv().clear(ply);

        let mut window = window;
        if !K::ROOT {
            if let Some(score) = self.terminal_score(position, ply) {
                return Ok(score);
            }
            match prune::mate_distance::narrow(window, ply) {
                Ok(narrower) => window = narrower,
                Err(score) => return Ok(score),
            }
        }

        let entry = self.shared.table.probe(position.table_key());
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.cutoff_score(depth, window, ply))
        {
            return Ok(score);
        }
        let tb_floor = match self.probe_tablebases::<K>(position, state, depth, window, ply) {
            TbResult::Unknown => Score::NEG_INFINITE,
            TbResult::LowerBound(score) => score,
            TbResult::Cutoff(score) => return Ok(score),
        };
        let mut node = Node { tb_floor, ..self.static_node::<K>(position, state, depth, window, ply, entry) };
        self.look_back(&mut node);
        if let Some(score) = self.prune_node::<K>(&node, state)? {
            return Ok(score);
        }
        match extend::singular::plies::<G, K>(self, &node, state)? {
            ControlFlow::Break(score) => Ok(score),
            ControlFlow::Continue(tt_extension) => {
                self.search_moves::<K>(Node { tt_extension, ..node }, state)
            }
        }
    }

    /// Collects what the heuristics read about a position, without searching.
    fn static_node<'p, K: NodeType>(
        &mut self,
        position: &'p G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
        entry: Option<Entry>,
    ) -> Node<'p, G> {
        let in_check = position.is_check();
        let tt_move = self.tt_move::<K>(position, entry);
        let depth = depth - reduce::internal_iterative::plies(depth, tt_move.is_some());
        let raw_eval = (!in_check).then(|| entry.map_or_else(|| self.raw_eval(state, position), |e| e.eval));
        let correction_key = self.correction_key(state, position, ply);
        let static_eval = raw_eval.map(|raw_eval| self.corrected_eval(raw_eval, &correction_key));
        let improving = self.update_improving(ply, static_eval);
        let raw_eval = raw_eval.unwrap_or(Score::NEG_INFINITE);
        let static_eval = static_eval.unwrap_or(Score::NEG_INFINITE);
        let eval = entry.filter(|_| !in_check).map_or(static_eval, |e| e.refined_eval(static_eval, ply));
        Node {
            position,
            ply,
            depth,
            window,
            in_check,
            raw_eval,
            static_eval,
            eval,
            correction_key,
            entry,
            tt_move,
            improving,
            tb_floor: Score::NEG_INFINITE,
            tt_extension: 0,
            without_tt_move: false,
        }
    }

    /// Rewards the move that led to a node for what it did to the evaluation, and corrects its reduction.
    fn look_back(&mut self, node: &mut Node<'_, G>) {
        let Some(before) = self.eval_before(node.ply).filter(|_| !node.in_check) else { return };
        self.reward_last_move(node, history::bonus_by_evals(before, node.static_eval));
        let reduction = self.reduction_before(node.ply);
        node.depth = (node.depth + reduce::hindsight::plies(reduction, before, node.static_eval)).max(1);
    }

    /// The move to search first: at the root that of the current line, then the table's, then the caller's hint.
    fn tt_move<K: NodeType>(&self, position: &G, entry: Option<Entry>) -> Option<G::Move> {
        let line = if K::ROOT { self.multipv.hint() } else { None };
        let hint = self.shared.task.limits.hint.filter(|_| K::ROOT);
        let known = [line, entry.map(|e| e.mv), hint];
        known.into_iter().flatten().find_map(|mv| position.unpack(mv))
    }

    /// Prunes the whole node before its moves are generated.
    fn prune_node<K: NodeType>(
        &mut self,
        node: &Node<'_, G>,
        state: &State<G>,
    ) -> Result<Option<Score>, Stopped> {
        if let Some(score) = prune::reverse_futility::cut::<G, K>(node) {
            return Ok(Some(score));
        }
        if let Some(score) = prune::null_move::cut::<G, K>(self, node, state)? {
            return Ok(Some(score));
        }
        prune::probcut::cut::<G, K>(self, node, state)
    }

    /// Searches the moves of a node that was not pruned.
    pub(super) fn search_moves<K: NodeType>(
        &mut self,
        mut node: Node<'_, G>,
        state: &State<G>,
    ) -> Result<Score, Stopped> {
        let (position, ply, alpha) = (node.position, node.ply, node.window.alpha);
        let (mut best, mut best_move) = (node.tb_floor, None);
        node.window.alpha = alpha.max(best);
        let place = self.place(ply);
        let mut picker = self.picker(Scope::All, node.tt_move);
        let mut tried = TriedQuiets::new();
        let mut count = 0;
        while let Some(pick) = self.pick(&mut picker, position, &place) {
            let left_out = node.without_tt_move && Some(pick.mv) == node.tt_move;
            if left_out || (K::ROOT && !self.is_wanted(position.pack(pick.mv))) {
                continue;
            }
            let PickedMove { mv, quiet, losing, history } = pick;
            let candidate = Candidate { mv, index: count, quiet, losing, history };
            count += 1;
            // Moves are pruned only once one is known that does not lose.
            if !best.is_loss()
                && (prune::late_move::skips::<G, K>(&node, &candidate)
                    || prune::futility::skips::<G, K>(&node, &candidate)
                    || prune::see::skips::<G, K>(&node, &candidate))
            {
                continue;
            }

            let child = self.child(position, mv);
            let before_move = self.nodes();
            let score = self.search_child((position, state, ply), mv, &child, |worker, next| {
                worker.search_move::<K>(&node, &candidate, &child, next)
            })?;
            if score > best {
                best = score;
            }
            if score > node.window.alpha {
                node.window.alpha = score;
                best_move = Some(mv);
                if K::PV {
                    self.pv().update(ply, position.pack(mv));
                }
                if K::ROOT {
                    self.publish(position, mv, score, before_move);
                }
                if score >= node.window.beta {
                    if quiet {
                        self.update_history(&node, mv, &tried);
                    }
                    break;
                }
            }
            if quiet {
                let _ = tried.try_push(mv);
            }
        }
        self.finish_moves(picker);
        if count == 0 && node.without_tt_move {
            return Ok(alpha);
        }
        if count == 0 {
            return Ok(Score::from_outcome(position.no_moves_outcome(), position.side_to_move(), ply));
        }

        // The best of some moves says nothing about the position.
        let of_some = node.without_tt_move || K::ROOT && self.is_restricted();
        if !of_some {
            self.store(&node, alpha, best, best_move);
            if best <= alpha {
                self.reward_last_move(&node, history::bonus(node.depth));
            }
        }
        Ok(best)
    }

    /// Stores the result of a node whose window began at `alpha`.
    fn store(&mut self, node: &Node<'_, G>, alpha: Score, best: Score, best_move: Option<G::Move>) {
        let Node { position, ply, .. } = *node;
        let bound = Bound::of(best, alpha, node.window.beta);
        if updates_correction(node, bound, best, best_move) {
            self.update_correction(node, best);
        }
        let mv = best_move.map_or(Packed::NONE, |mv| position.pack(mv));
        let (score, eval, depth) = (best.to_tt(ply), node.raw_eval, node.depth as u8);
        self.shared.table.store(position.table_key(), Entry { mv, score, eval, depth, bound });
    }

    /// Searches a child: the first on the principal variation with the full window, the others with a null window
    /// and reduced depth, then again where they exceed alpha.
    fn search_move<K: NodeType>(
        &mut self,
        node: &Node<'_, G>,
        candidate: &Candidate<G::Move>,
        child: &G,
        next: &State<G>,
    ) -> Result<Score, Stopped> {
        let Node { ply, window, .. } = *node;
        let extension = if Some(candidate.mv) == node.tt_move { node.tt_extension } else { 0 };
        self.note_extension(ply, extension);
        let depth = node.depth - 1 + extension;
        let null_window = -window.null_at_alpha();
        let mut score = Score::INFINITE;
        if !K::PV || candidate.index > 0 {
            let reduction = reduce::late_move::plies::<G, K>(node, candidate, child);
            self.note_reduction(ply, reduction);
            score = -self.node::<NonPvNode>(child, next, depth - reduction, null_window, ply + 1)?;
            self.note_reduction(ply, 0);
            if score > window.alpha && reduction > 0 {
                score = -self.node::<NonPvNode>(child, next, depth, null_window, ply + 1)?;
            }
        }
        if K::PV && (candidate.index == 0 || score > window.alpha) {
            score = -self.node::<K::Child>(child, next, depth, -window, ply + 1)?;
        }
        Ok(score)
    }
}

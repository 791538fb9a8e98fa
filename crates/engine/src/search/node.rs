//! A node of the search: what may settle it, then its moves, the most promising first.

use zeitnot_rules::{Packed, Tactics};

use super::{
    Candidate, MAX_PLY, Node, NodeType, NonPvNode, Score, Window, Worker, extend, history::Tried,
    move_picker::Scope, prune, reduce, tb_probe::Known,
};
use crate::{
    Stopped,
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

impl Entry {
    /// The stored score, if it settles a search of this depth and window.
    pub(super) fn settles(&self, depth: i32, window: Window, ply: u16) -> Option<Score> {
        let score = self.score.from_tt(ply);
        let fits = match self.bound {
            Bound::Exact => true,
            Bound::Lower => score >= window.beta,
            Bound::Upper => score <= window.alpha,
        };
        (i32::from(self.depth) >= depth && fits).then_some(score)
    }

    /// The static evaluation, bettered by what the stored score says of the true one.
    fn better_eval(&self, eval: Score, ply: u16) -> Score {
        let score = self.score.from_tt(ply);
        let says_more = match self.bound {
            Bound::Exact => true,
            Bound::Lower => score > eval,
            Bound::Upper => score < eval,
        };
        if says_more && !score.is_decisive() { score } else { eval }
    }
}

/// Does the score of a node say by how much its static evaluation was wrong? Not where something was won at once,
/// and not where it is a bound on the side of the evaluation.
fn is_telling<G: Tactics>(node: &Node<'_, G>, bound: Bound, score: Score, mv: Option<G::Move>) -> bool {
    let quiet = mv.is_none_or(|mv| node.position.gain(mv) == 0);
    let beyond = match bound {
        Bound::Exact => true,
        Bound::Lower => score > node.static_eval,
        Bound::Upper => score < node.static_eval,
    };
    !node.check && quiet && beyond && !score.is_decisive()
}

impl<G: EngineGame> Worker<'_, G> {
    /// Searches a position to a depth: the score is exact within the window, a bound outside.
    pub(super) fn node<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
    ) -> Result<Score, Stopped> {
        let check = position.is_check();
        let depth = depth + extend::check::plies(check, ply, self.iteration);
        if depth <= 0 || ply >= MAX_PLY {
            return self.quiesce::<K>(position, state, window, ply);
        }
        self.count(ply)?;
        self.pv().clear(ply);

        let mut window = window;
        if !K::ROOT {
            if let Some(score) = self.settled(position, ply) {
                return Ok(score);
            }
            match prune::mate_distance::narrow(window, ply) {
                Ok(narrower) => window = narrower,
                Err(score) => return Ok(score),
            }
        }

        let entry = self.shared.table.probe(position.key());
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.settles(depth, window, ply))
        {
            return Ok(score);
        }
        let floor = match self.ask_tables::<K>(position, state, depth, window, ply) {
            Known::Nothing => Score::NEG_INFINITE,
            Known::AtLeast(score) => score,
            Known::All(score) => return Ok(score),
        };
        let node = Node { floor, ..self.survey::<K>(position, state, depth, window, ply, entry) };
        match self.cut::<K>(&node, state)? {
            Some(score) => Ok(score),
            None => self.moves::<K>(node, state),
        }
    }

    /// Looks at a position as far as that takes no search.
    fn survey<'p, K: NodeType>(
        &mut self,
        position: &'p G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
        entry: Option<Entry>,
    ) -> Node<'p, G> {
        let check = position.is_check();
        let table_move = self.table_move::<K>(position, entry);
        let depth = depth - reduce::internal_iterative::plies(depth, table_move.is_some());
        let judged = (!check).then(|| entry.map_or_else(|| self.judge(state, position), |e| e.eval));
        let like = self.likeness(state, position, ply);
        let static_eval = judged.map(|judged| self.corrected(judged, &like));
        let improving = self.improves(ply, static_eval);
        let judged = judged.unwrap_or(Score::NEG_INFINITE);
        let static_eval = static_eval.unwrap_or(Score::NEG_INFINITE);
        let eval = entry.filter(|_| !check).map_or(static_eval, |e| e.better_eval(static_eval, ply));
        Node {
            position,
            ply,
            depth,
            window,
            check,
            judged,
            static_eval,
            eval,
            like,
            entry,
            table_move,
            improving,
            floor: Score::NEG_INFINITE,
        }
    }

    /// The move to look at first: the table's, but at the root that of the line that is searched, and where
    /// nobody knows one, that which we were told of.
    fn table_move<K: NodeType>(&self, position: &G, entry: Option<Entry>) -> Option<G::Move> {
        let line = if K::ROOT { self.lines.hint() } else { None };
        let hint = self.shared.task.limits.hint.filter(|_| K::ROOT);
        let known = [line, entry.map(|e| e.mv), hint];
        known.into_iter().flatten().find_map(|mv| position.unpack(mv))
    }

    /// Before the moves: each line may settle the node.
    fn cut<K: NodeType>(&mut self, node: &Node<'_, G>, state: &State<G>) -> Result<Option<Score>, Stopped> {
        if let Some(score) = prune::reverse_futility::cut::<G, K>(node) {
            return Ok(Some(score));
        }
        if let Some(score) = prune::null_move::cut::<G, K>(self, node, state)? {
            return Ok(Some(score));
        }
        prune::probcut::cut::<G, K>(self, node, state)
    }

    fn moves<K: NodeType>(&mut self, mut node: Node<'_, G>, state: &State<G>) -> Result<Score, Stopped> {
        let (position, ply, alpha) = (node.position, node.ply, node.window.alpha);
        let (mut best, mut best_move) = (node.floor, None);
        node.window.alpha = alpha.max(best);
        let before = self.before(ply);
        let mut picker = self.picker(Scope::All, node.table_move);
        let mut tried = Tried::new();
        let mut count = 0;
        while let Some(pick) = self.pick(&mut picker, position, &before, ply) {
            if K::ROOT && !self.is_wanted(position.pack(pick.mv)) {
                continue;
            }
            let (mv, quiet, history) = (pick.mv, pick.quiet, pick.history);
            let candidate = Candidate { mv, index: count, quiet, history };
            count += 1;
            // For each move, once one is known that does not lose: each line may pass it over.
            if !best.is_loss()
                && (prune::late_move::skips::<G, K>(&node, &candidate)
                    || prune::futility::skips::<G, K>(&node, &candidate)
                    || prune::see::skips::<G, K>(&node, &candidate))
            {
                continue;
            }

            let child = self.child(position, mv);
            let before_move = self.nodes();
            let score = self.follow((position, state, ply), mv, &child, |worker, next| {
                worker.descend::<K>(&node, &candidate, &child, next)
            })?;
            if score > best {
                best = score;
            }
            if score > node.window.alpha {
                node.window.alpha = score;
                best_move = Some(mv);
                if K::PV {
                    self.pv().raise(ply, position.pack(mv));
                }
                if K::ROOT {
                    self.publish(position, mv, score, before_move);
                }
                if score >= node.window.beta {
                    if quiet {
                        self.remember(&node, mv, &tried);
                    }
                    break;
                }
            }
            if quiet {
                let _ = tried.try_push(mv);
            }
        }
        self.leave_moves(picker);
        if count == 0 {
            return Ok(Score::from_outcome(position.stuck(), position.side(), ply));
        }

        // The best of some moves says nothing of the position.
        if !(K::ROOT && self.is_restricted()) {
            self.keep(&node, alpha, best, best_move);
        }
        Ok(best)
    }

    /// Keeps what came of a node whose window began at this alpha.
    fn keep(&mut self, node: &Node<'_, G>, alpha: Score, best: Score, best_move: Option<G::Move>) {
        let Node { position, ply, .. } = *node;
        let bound = match best {
            _ if best >= node.window.beta => Bound::Lower,
            _ if best > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        if is_telling(node, bound, best, best_move) {
            self.learn(node, best);
        }
        let mv = best_move.map_or(Packed::NONE, |mv| position.pack(mv));
        let (score, eval, depth) = (best.to_tt(ply), node.judged, node.depth as u8);
        self.shared.table.store(position.key(), Entry { mv, score, eval, depth, bound });
    }

    /// Searches a child: the first on the principal variation with the open window, the others with a
    /// closed one around alpha, less deep at first, and again where they come out better than expected.
    fn descend<K: NodeType>(
        &mut self,
        node: &Node<'_, G>,
        candidate: &Candidate<G::Move>,
        child: &G,
        next: &State<G>,
    ) -> Result<Score, Stopped> {
        let Node { ply, window, .. } = *node;
        let depth = node.depth - 1;
        let closed = -window.at_alpha();
        let mut score = Score::INFINITE;
        if !K::PV || candidate.index > 0 {
            let reduction = reduce::late_move::plies::<G, K>(node, candidate, child);
            score = -self.node::<NonPvNode>(child, next, depth - reduction, closed, ply + 1)?;
            if score > window.alpha && reduction > 0 {
                score = -self.node::<NonPvNode>(child, next, depth, closed, ply + 1)?;
            }
        }
        if K::PV && (candidate.index == 0 || score > window.alpha) {
            score = -self.node::<K::Child>(child, next, depth, -window, ply + 1)?;
        }
        Ok(score)
    }
}

//! Parts shared by all algorithms: counting nodes, evaluating leaves, stopping, iterative deepening.

use std::{
    ops::{ControlFlow, RangeInclusive},
    time::Instant,
};

use zeitnot_rules::{Moves, Outcome};

use super::{Algorithm, Evaluation, Options, SimpleTable, evaluation};
use crate::{
    EngineGame, Evaluator, Limits, Score, StopFlag, Stopped, eval::State, scheduler::TimeSlice,
    score::MAX_PLY,
};

/// Nodes between two checks of the limits.
const LIMIT_CHECK_INTERVAL: u64 = 1024;

pub(super) struct TreeSearch<'w, G: EngineGame> {
    algorithm: Algorithm,
    pub(crate) options: &'w Options,
    pub(crate) evaluator: &'w mut G::Evaluator,
    pub(crate) table: Option<&'w mut SimpleTable>,
    limits: &'w Limits,
    stop: &'w StopFlag,
    /// Turn of a thinker that shares the machine.
    pub(crate) slice: Option<TimeSlice<'w>>,
    pub(crate) nodes: u64,
    /// Longest line in plies.
    pub(crate) seldepth: u16,
    pub(crate) horizon: u16,
}

/// Position in the tree.
pub(super) struct Node<G: EngineGame> {
    pub(crate) position: G,
    state: State<G>,
    /// Distance from the root in plies.
    pub(crate) ply: u16,
    /// Remaining depth in plies.
    pub(crate) depth: u16,
    /// Plies below the first one of depth 0: those of the quiescence search.
    pub(crate) beyond: u16,
}

/// Value and best move; no move at a leaf.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Found<M> {
    pub(crate) score: Score,
    pub(crate) mv: Option<M>,
}

impl<M> From<Score> for Found<M> {
    fn from(score: Score) -> Self {
        Found { score, mv: None }
    }
}

/// Result of visiting a position.
pub(super) enum Visit<M> {
    /// The game is over, with this score.
    Terminal(Score),
    Moves(Moves<M>),
}

impl<'w, G: EngineGame> TreeSearch<'w, G> {
    pub(crate) fn new(
        algorithm: Algorithm,
        options: &'w Options,
        evaluator: &'w mut G::Evaluator,
        table: Option<&'w mut SimpleTable>,
        limits: &'w Limits,
        stop: &'w StopFlag,
    ) -> Self {
        TreeSearch {
            algorithm,
            options,
            evaluator,
            table,
            limits,
            stop,
            slice: None,
            nodes: 0,
            seldepth: 0,
            horizon: 0,
        }
    }

    /// Runs iterative deepening, reporting each finished depth, and returns the last result.
    pub(crate) fn deepen(
        &mut self,
        position: &G,
        depths: RangeInclusive<u16>,
        mut report: impl FnMut(&Self, u16, Found<G::Move>) -> ControlFlow<()>,
    ) -> Found<G::Move> {
        let mut found = Found::from(Score::ZERO);
        for depth in depths {
            (self.horizon, self.seldepth) = (depth, 0);
            match self.iterate(position, depth, found.score) {
                Ok(better) => found = better,
                Err(Stopped) => break,
            }
            if report(self, depth, found).is_break() {
                break;
            }
        }
        found
    }

    fn iterate(&mut self, position: &G, depth: u16, guess: Score) -> Result<Found<G::Move>, Stopped> {
        let state = self.evaluator.refresh(position);
        let root = Node { position: position.clone(), state, ply: 0, depth, beyond: 0 };
        match self.algorithm {
            Algorithm::Minimax => self.minimax(&root),
            Algorithm::MtdF => self.mtd_f(&root, guess),
            Algorithm::AlphaBeta
            | Algorithm::AlphaBetaOrdered
            | Algorithm::AlphaBetaPositional
            | Algorithm::AlphaBetaTable
            | Algorithm::AlphaBetaQuiescence
            | Algorithm::AlphaBetaChecks
            | Algorithm::ForwardPruning
            | Algorithm::ForwardPruningByPly => self.alpha_beta(&root, Score::NEG_INFINITE, Score::INFINITE),
        }
    }

    /// Counts a node and returns its moves or its outcome.
    pub(crate) fn visit(&mut self, node: &Node<G>) -> Result<Visit<G::Move>, Stopped> {
        self.count(node.ply)?;
        let position = &node.position;
        let mut outcome = position.quick_outcome();
        if outcome == Outcome::Ongoing {
            let mut moves = position.moves();
            if !moves.is_empty() {
                if node.ply == 0 && self.is_restricted() {
                    moves.retain(|mv| self.limits.root_moves.contains(&position.pack(*mv)));
                }
                return Ok(Visit::Moves(moves));
            }
            outcome = position.no_moves_outcome();
        }
        Ok(Visit::Terminal(Score::from_outcome(outcome, position.side_to_move(), node.ply)))
    }

    /// Returns the position after a move.
    pub(crate) fn child(&mut self, node: &Node<G>, mv: G::Move) -> Node<G> {
        let state = self.evaluator.update(&node.state, &node.position, mv);
        Node {
            position: node.position.after(mv),
            state,
            ply: node.ply + 1,
            depth: node.depth.saturating_sub(1),
            beyond: if node.depth == 0 { node.beyond + 1 } else { 0 },
        }
    }

    /// Value of a leaf, exact within the window: by quiescence search if enabled, else the static evaluation.
    pub(crate) fn leaf(
        &mut self,
        node: &Node<G>,
        moves: Moves<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Result<Score, Stopped> {
        match self.options.quiescence {
            Some(quiescence) if node.ply < MAX_PLY => self.quiesce(node, quiescence, moves, alpha, beta),
            _ => Ok(self.static_eval(node)),
        }
    }

    /// Static evaluation of a position.
    pub(crate) fn static_eval(&mut self, node: &Node<G>) -> Score {
        match self.options.evaluation {
            Evaluation::Engine => self.evaluator.evaluate(&node.state, &node.position),
            Evaluation::Material => evaluation::material(&node.position),
        }
    }

    /// Returns whether only some root moves are searched.
    pub(crate) fn is_restricted(&self) -> bool {
        !self.limits.root_moves.is_empty()
    }

    fn count(&mut self, ply: u16) -> Result<(), Stopped> {
        let spent = self.limits.nodes.is_some_and(|limit| self.nodes >= limit);
        if spent || (self.nodes.is_multiple_of(LIMIT_CHECK_INTERVAL) && self.has_to_stop()) {
            return Err(Stopped);
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        Ok(())
    }

    fn has_to_stop(&mut self) -> bool {
        if let Some(slice) = &mut self.slice {
            slice.yield_if_due(self.stop);
        }
        self.stop.is_raised() || self.limits.hard.is_some_and(|hard| Instant::now() >= hard)
    }
}

//! A walk over the tree of a game: what all algorithms do alike, which is to count, to judge and to stop.

use std::{
    ops::{ControlFlow, RangeInclusive},
    time::Instant,
};

use zeitnot_rules::{Moves, Outcome};

use super::{Algorithm, Options, SimpleTable};
use crate::{
    EngineGame, Evaluator, Limits, Score, StopFlag, Stopped, eval::State, scheduler::TimeSlice,
    score::MAX_PLY,
};

/// The clock is looked at once in so many nodes.
const NODES_BETWEEN_LOOKS: u64 = 1024;

/// A walk, and what it needs on the way.
pub(super) struct TreeSearch<'w, G: EngineGame> {
    algorithm: Algorithm,
    pub options: &'w Options,
    pub judge: &'w G::Evaluator,
    pub memory: Option<&'w mut SimpleTable>,
    limits: &'w Limits,
    stop: &'w StopFlag,
    /// Of a player that shares the machine with others.
    pub slice: Option<TimeSlice<'w>>,
    /// Positions visited, each time they are.
    pub nodes: u64,
    /// The longest line, in plies.
    pub seldepth: u16,
    /// The depth of this iteration.
    pub horizon: u16,
}

/// A position in the tree.
pub(super) struct Node<G: EngineGame> {
    pub position: G,
    state: State<G>,
    /// Plies from the root.
    pub ply: u16,
    /// Plies to look ahead.
    pub depth: u16,
}

/// A value, and the move that leads to it: none at a leaf.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Found<M> {
    pub score: Score,
    pub mv: Option<M>,
}

impl<M> From<Score> for Found<M> {
    fn from(score: Score) -> Self {
        Found { score, mv: None }
    }
}

/// What a first look at a position tells.
pub(super) enum Arrival<M> {
    /// The game is over, and worth this.
    Over(Score),
    /// It goes on with one of these.
    Open(Moves<M>),
}

impl<'w, G: EngineGame> TreeSearch<'w, G> {
    pub fn new(
        algorithm: Algorithm,
        options: &'w Options,
        judge: &'w G::Evaluator,
        memory: Option<&'w mut SimpleTable>,
        limits: &'w Limits,
        stop: &'w StopFlag,
    ) -> Self {
        TreeSearch {
            algorithm,
            options,
            judge,
            memory,
            limits,
            stop,
            slice: None,
            nodes: 0,
            seldepth: 0,
            horizon: 0,
        }
    }

    /// Iterative deepening: tells of each depth that is done, and returns what the last one found.
    pub fn deepen(
        &mut self,
        position: &G,
        depths: RangeInclusive<u16>,
        mut tell: impl FnMut(&Self, u16, Found<G::Move>) -> ControlFlow<()>,
    ) -> Found<G::Move> {
        let mut found = Found::from(Score::ZERO);
        for depth in depths {
            (self.horizon, self.seldepth) = (depth, 0);
            match self.iterate(position, depth, found.score) {
                Ok(better) => found = better,
                Err(Stopped) => break,
            }
            if tell(self, depth, found).is_break() {
                break;
            }
        }
        found
    }

    fn iterate(&mut self, position: &G, depth: u16, guess: Score) -> Result<Found<G::Move>, Stopped> {
        let state = self.judge.root(position);
        let root = Node { position: position.clone(), state, ply: 0, depth };
        match self.algorithm {
            Algorithm::Minimax => self.minimax(&root),
            Algorithm::MtdF => self.mtd_f(&root, guess),
            Algorithm::AlphaBeta
            | Algorithm::AlphaBetaOrdered
            | Algorithm::AlphaBetaTable
            | Algorithm::AlphaBetaQuiescence
            | Algorithm::ForwardPruning => self.alpha_beta(&root, Score::NEG_INFINITE, Score::INFINITE),
        }
    }

    /// Counts a node, and looks whether the game goes on there.
    pub fn arrive(&mut self, node: &Node<G>) -> Result<Arrival<G::Move>, Stopped> {
        self.count(node.ply)?;
        let position = &node.position;
        let mut outcome = position.settled();
        if outcome == Outcome::Ongoing {
            let mut moves = position.moves();
            if !moves.is_empty() {
                if node.ply == 0 && self.is_restricted() {
                    moves.retain(|mv| self.limits.root_moves.contains(&position.pack(*mv)));
                }
                return Ok(Arrival::Open(moves));
            }
            outcome = position.stuck();
        }
        Ok(Arrival::Over(Score::from_outcome(outcome, position.side(), node.ply)))
    }

    /// The position after a move.
    pub fn child(&self, node: &Node<G>, mv: G::Move) -> Node<G> {
        let mut position = node.position.clone();
        position.play(mv);
        let state = self.judge.step(&node.state, &node.position, mv);
        Node { position, state, ply: node.ply + 1, depth: node.depth.saturating_sub(1) }
    }

    /// What a leaf is worth, exactly between alpha and beta: with quiescence once nothing hangs any more,
    /// else by its looks.
    pub fn leaf(
        &mut self,
        node: &Node<G>,
        moves: Moves<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Result<Score, Stopped> {
        if self.options.quiescence && node.ply < MAX_PLY {
            self.quiesce(node, moves, alpha, beta)
        } else {
            Ok(self.look(node))
        }
    }

    /// What a position is worth by its looks.
    pub fn look(&self, node: &Node<G>) -> Score {
        self.judge.score(&node.state, &node.position)
    }

    /// Are only some moves asked for at the root?
    pub fn is_restricted(&self) -> bool {
        !self.limits.root_moves.is_empty()
    }

    fn count(&mut self, ply: u16) -> Result<(), Stopped> {
        let spent = self.limits.nodes.is_some_and(|limit| self.nodes >= limit);
        if spent || (self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS) && self.has_to_stop()) {
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

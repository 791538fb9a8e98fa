//! The algorithms that courses teach, plain and readable: what to begin with, and what to compare with.
//!
//! They share one [`tree_search`] over the tree, which counts and judges; [`minimax`] looks at all of it,
//! [`alpha_beta`] at as much as it must, in the [`ordering`] and with the [`table`] and the [`quiescence`]
//! that [`Options`] ask for; [`mtdf`] closes in on the value, and [`forward_pruning`] gives up certainty
//! for depth. [`thinker`] plays by any of them, [`analyse`] studies one position.
//!
//! Every position that a walk comes to is one node, the root and the leaves included, whatever the
//! algorithm; so the counts compare. A game ends in the tree where the position itself says so. Repetition
//! is not looked at: a value would depend on the way to a position, and could not be kept in a table, nor
//! compared. All but forward pruning find the very same value at the same depth.
//!
//! Sources: Russell and Norvig, "Artificial Intelligence: A Modern Approach", the chapter on adversarial
//! search; Chess Programming Wiki, by the names of the files.

use std::{
    fmt,
    ops::ControlFlow,
    str::FromStr,
    time::{Duration, Instant},
};

use super::{EngineGame, Limits, Score, StopFlag};

mod alpha_beta;
mod forward_pruning;
mod minimax;
mod mtdf;
mod ordering;
mod quiescence;
mod table;
mod thinker;
mod tree_search;

pub use forward_pruning::{KeptShare, Pruning};
use table::SimpleTable;
pub use thinker::TextbookThinker;
use tree_search::TreeSearch;

/// No walk goes deeper: beyond, even a game without progress would end, which [`table`] must not forget.
pub const MAX_DEPTH: u16 = 48;

/// One of the algorithms, by the name it has in courses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The whole tree.
    Minimax,
    /// Without what cannot matter, the moves as they come.
    AlphaBeta,
    /// The same, captures first.
    AlphaBetaOrdered,
    /// The same, with a table of positions.
    AlphaBetaTable,
    /// The same, with captures played out at the leaves.
    AlphaBetaQuiescence,
    /// Alpha-beta with windows of one point that close in on the value, ordered and with a table.
    MtdF,
    /// Alpha-beta with all of that, which passes unpromising moves over and looks deeper at singular ones.
    ForwardPruning,
}

impl Algorithm {
    /// Every one, the plainest first.
    pub const ALL: [Algorithm; 7] = [
        Algorithm::Minimax,
        Algorithm::AlphaBeta,
        Algorithm::AlphaBetaOrdered,
        Algorithm::AlphaBetaTable,
        Algorithm::AlphaBetaQuiescence,
        Algorithm::MtdF,
        Algorithm::ForwardPruning,
    ];

    /// The name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Minimax => "minimax",
            Algorithm::AlphaBeta => "alpha-beta",
            Algorithm::AlphaBetaOrdered => "alpha-beta-ordered",
            Algorithm::AlphaBetaTable => "alpha-beta-table",
            Algorithm::AlphaBetaQuiescence => "alpha-beta-quiescence",
            Algorithm::MtdF => "mtd-f",
            Algorithm::ForwardPruning => "forward-pruning",
        }
    }

    /// What belongs to it by its name.
    pub fn options(self) -> Options {
        let plain = Options::default();
        let ordered = Options { order: true, ..plain };
        let table = Options { table: true, ..ordered };
        let quiescence = Options { quiescence: true, ..table };
        match self {
            Algorithm::Minimax | Algorithm::AlphaBeta => plain,
            Algorithm::AlphaBetaOrdered => ordered,
            Algorithm::AlphaBetaTable | Algorithm::MtdF => table,
            Algorithm::AlphaBetaQuiescence => quiescence,
            Algorithm::ForwardPruning => Options { pruning: Some(Pruning::default()), ..quiescence },
        }
    }

    /// Does an iteration need what the one before has found?
    fn deepens(self) -> bool {
        self == Algorithm::MtdF
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or(UnknownAlgorithm)
    }
}

/// No algorithm of ours.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("known: {}", Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm;

/// What an algorithm is helped by. Minimax knows quiescence only.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The promising moves first.
    pub order: bool,
    /// A table of the positions seen.
    pub table: bool,
    /// Captures are played out at the leaves.
    pub quiescence: bool,
    /// Unpromising moves are passed over.
    pub pruning: Option<Pruning>,
}

/// What an algorithm makes of a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Analysis<M> {
    /// To the side to move.
    pub value: Score,
    /// The best move; `None` where the game is over, or at depth 0.
    pub mv: Option<M>,
    /// Positions visited.
    pub nodes: u64,
    /// How long it took.
    pub time: Duration,
}

/// Runs an algorithm to a fixed depth, at most [`MAX_DEPTH`].
///
/// ```
/// use zeitnot_engine::textbook::{Algorithm, analyse};
/// use zeitnot_rules::{Game, chess::Chess};
///
/// let study = analyse(Algorithm::Minimax, &Chess::start(), 2);
/// assert_eq!(study.nodes, 1 + 20 + 400);
/// assert_eq!(analyse(Algorithm::AlphaBeta, &Chess::start(), 2).value, study.value);
/// ```
pub fn analyse<G: EngineGame>(algorithm: Algorithm, position: &G, depth: u16) -> Analysis<G::Move> {
    analyse_with(algorithm, &algorithm.options(), position, depth)
}

/// The same, with other options than those that the algorithm is named for.
pub fn analyse_with<G: EngineGame>(
    algorithm: Algorithm,
    options: &Options,
    position: &G,
    depth: u16,
) -> Analysis<G::Move> {
    let began = Instant::now();
    let (judge, limits, stop) = (G::Evaluator::default(), Limits::default(), StopFlag::default());
    let mut memory = options.table.then(SimpleTable::new);
    let mut walk = TreeSearch::new(algorithm, options, &judge, memory.as_mut(), &limits, &stop);
    let depth = depth.min(MAX_DEPTH);
    let first = if algorithm.deepens() { depth.min(1) } else { depth };
    let found = walk.deepen(position, first..=depth, |_, _, _| ControlFlow::Continue(()));
    Analysis { value: found.score, mv: found.mv, nodes: walk.nodes, time: began.elapsed() }
}

#[cfg(test)]
mod tests;

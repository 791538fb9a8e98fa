//! Textbook algorithms, written for readability: to learn from and to compare with.
//!
//! [`minimax`], [`alpha_beta`], [`mtdf`] and [`forward_pruning`] share the counting and evaluation of
//! [`tree_search`]; [`Options`] add [`ordering`], the [`table`], [`quiescence`] and another [`evaluation`]. [`thinker`]
//! plays by any of them, [`analyse`] studies one position.
//!
//! Every visited position counts as one node, including the root and the leaves, so that counts are comparable.
//! Repetitions are ignored, as values would depend on the path. At equal depth all algorithms but forward pruning
//! find the same value.
//!
//! Sources: Russell and Norvig, "Artificial Intelligence: A Modern Approach", the chapter on adversarial search;
//! Chess Programming Wiki, by the names of the files.

use std::{
    fmt,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{EngineGame, Limits, Score, StopFlag};

mod alpha_beta;
mod evaluation;
mod forward_pruning;
mod minimax;
mod mtdf;
mod ordering;
mod quiescence;
mod table;
mod thinker;
mod tree_search;

pub use evaluation::Evaluation;
pub use forward_pruning::ForwardPruning;
pub use ordering::MoveOrder;
pub use quiescence::Quiescence;
use table::SimpleTable;
pub(crate) use thinker::TextbookThinker;
use tree_search::TreeSearch;

/// Deepest search. [`table`] relies on it to handle the fifty-move rule.
pub const MAX_DEPTH: u16 = 48;

/// Algorithm, by its usual name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Full minimax.
    Minimax,
    /// Alpha-beta without move ordering.
    AlphaBeta,
    /// With move ordering.
    AlphaBetaOrdered,
    /// With an order by capture, check, space and centre.
    AlphaBetaPositional,
    /// With ordering and a transposition table.
    AlphaBetaTable,
    /// With ordering, table and quiescence search.
    AlphaBetaQuiescence,
    /// With ordering, table and a quiescence search with checks.
    AlphaBetaChecks,
    /// MTD(f) with ordering and table.
    MtdF,
    /// Alpha-beta with all of these, forward pruning and singular extensions.
    ForwardPruning,
    /// Alpha-beta with all of these and forward pruning by ply.
    ForwardPruningByPly,
}

impl Algorithm {
    /// All algorithms, simplest first.
    pub const ALL: [Algorithm; 10] = [
        Algorithm::Minimax,
        Algorithm::AlphaBeta,
        Algorithm::AlphaBetaOrdered,
        Algorithm::AlphaBetaPositional,
        Algorithm::AlphaBetaTable,
        Algorithm::AlphaBetaQuiescence,
        Algorithm::AlphaBetaChecks,
        Algorithm::MtdF,
        Algorithm::ForwardPruning,
        Algorithm::ForwardPruningByPly,
    ];

    /// Name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Minimax => "minimax",
            Algorithm::AlphaBeta => "alpha-beta",
            Algorithm::AlphaBetaOrdered => "alpha-beta-ordered",
            Algorithm::AlphaBetaPositional => "alpha-beta-positional",
            Algorithm::AlphaBetaTable => "alpha-beta-table",
            Algorithm::AlphaBetaQuiescence => "alpha-beta-quiescence",
            Algorithm::AlphaBetaChecks => "alpha-beta-checks",
            Algorithm::MtdF => "mtd-f",
            Algorithm::ForwardPruning => "forward-pruning",
            Algorithm::ForwardPruningByPly => "forward-pruning-by-ply",
        }
    }

    /// Options implied by the name.
    pub fn options(self) -> Options {
        let plain = Options::default();
        let ordered = Options { order: Some(MoveOrder::Captures), ..plain };
        let table = Options { table: true, ..ordered };
        let quiescence = Options { quiescence: Some(Quiescence::Captures), ..table };
        let pruned = |pruning| Options { pruning: Some(pruning), ..quiescence };
        match self {
            Algorithm::Minimax | Algorithm::AlphaBeta => plain,
            Algorithm::AlphaBetaOrdered => ordered,
            Algorithm::AlphaBetaPositional => Options { order: Some(MoveOrder::Positional), ..plain },
            Algorithm::AlphaBetaTable | Algorithm::MtdF => table,
            Algorithm::AlphaBetaQuiescence => quiescence,
            Algorithm::AlphaBetaChecks => {
                Options { quiescence: Some(Quiescence::CapturesAndChecks), ..quiescence }
            }
            Algorithm::ForwardPruning => pruned(ForwardPruning::ByDepth),
            Algorithm::ForwardPruningByPly => pruned(ForwardPruning::ByPly),
        }
    }

    /// Returns whether an iteration needs the result of the previous one.
    fn deepens(self) -> bool {
        self == Algorithm::MtdF
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Options of an algorithm. Minimax only uses quiescence and the evaluation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Move ordering.
    pub order: Option<MoveOrder>,
    /// Transposition table.
    pub table: bool,
    /// Quiescence search.
    pub quiescence: Option<Quiescence>,
    /// Forward pruning.
    pub pruning: Option<ForwardPruning>,
    /// Evaluation of the leaves.
    pub evaluation: Evaluation,
}

impl Options {
    /// Maximum depth of the search.
    fn max_depth(&self) -> u16 {
        self.pruning.map_or(MAX_DEPTH, ForwardPruning::max_depth)
    }
}

/// Result of an algorithm.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Analysis<M> {
    /// Value for the side to move.
    pub value: Score,
    /// Best move; `None` where the game is over, or at depth 0.
    pub mv: Option<M>,
    /// Number of positions visited.
    pub nodes: u64,
    /// Time taken.
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

/// Runs an algorithm with other options than those implied by its name.
pub fn analyse_with<G: EngineGame>(
    algorithm: Algorithm,
    options: &Options,
    position: &G,
    depth: u16,
) -> Analysis<G::Move> {
    let began = Instant::now();
    let (mut evaluator, limits, stop) = (G::Evaluator::default(), Limits::default(), StopFlag::default());
    let mut table = options.table.then(SimpleTable::new);
    let mut search = TreeSearch::new(algorithm, options, &mut evaluator, table.as_mut(), &limits, &stop);
    let depth = depth.min(options.max_depth());
    let first = if algorithm.deepens() { depth.min(1) } else { depth };
    let found = search.deepen(position, first..=depth, |_, _, _| ControlFlow::Continue(()));
    Analysis { value: found.score, mv: found.mv, nodes: search.nodes, time: began.elapsed() }
}

#[cfg(test)]
mod tests;

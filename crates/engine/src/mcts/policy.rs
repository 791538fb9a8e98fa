//! The policy of the search: selection of children, priors, and evaluation of leaves.

use zeitnot_rules::Moves;

use super::node::Node;
use crate::eval::{EngineGame, State};

/// Prior probability of each move of a position, in their order.
pub(crate) type Priors = Moves<f32>;

/// Policy of the search; each thread has its own.
pub(crate) trait Policy<G: EngineGame>: Default + Send {
    /// Number of visits after which a leaf is expanded.
    const EXPAND_AFTER: u32;
    /// Whether wins and losses are proved (MCTS-Solver).
    const SOLVES: bool;

    /// Exploration factor shared by all children of a node with this many visits.
    fn exploration(visits: f32) -> f32;

    /// Selection score of a child, given its parent's exploration factor and mean for the side to move there.
    fn selection_score(child: &ChildStats<'_>, exploration: f32, mean: f32) -> f32;

    /// Prior probabilities of the moves, which may be reordered.
    fn priors(
        &mut self,
        evaluator: &mut G::Evaluator,
        position: &G,
        state: &State<G>,
        moves: &mut Moves<G::Move>,
    ) -> Priors;

    /// Value of a leaf for its side to move, from -1 to 1.
    fn evaluate_leaf(&mut self, evaluator: &mut G::Evaluator, position: &G, state: &State<G>) -> f32;
}

pub(crate) struct ChildStats<'t>(pub(super) &'t Node);

impl ChildStats<'_> {
    /// Number of visits, including those in progress.
    pub(crate) fn visits(&self) -> f32 {
        self.0.visits() as f32
    }

    /// Mean value for the side that chooses; `None` if not visited.
    pub(crate) fn mean(&self) -> Option<f32> {
        self.0.mean()
    }

    pub(crate) fn prior(&self) -> f32 {
        self.0.prior()
    }
}

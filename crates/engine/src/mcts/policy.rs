//! What the two forms of the search differ in: which child is looked at next, and what a leaf is worth.

use zeitnot_rules::Moves;

use super::node::Node;
use crate::eval::{EngineGame, State};

/// One number for each move of a position, in their order.
pub type Priors = Moves<f32>;

/// A form of the search. Each thread has one of its own.
pub trait Policy<G: EngineGame>: Default + Send {
    /// A leaf gets children when it was visited so often before.
    const RIPE: u32;
    /// Are wins and losses proved? The course form only counts.
    const PROVES: bool;

    /// What is the same for all children of a node with so many visits.
    fn growth(visits: f32) -> f32;

    /// How much a child wants to be visited. Its parent's growth and mean are told, the mean as the side to
    /// move there sees it.
    fn urgency(child: &Seen<'_>, growth: f32, mean: f32) -> f32;

    /// How likely each move looks, 1 in all; the moves may be put into another order.
    fn priors(&mut self, position: &G, state: &State<G>, moves: &mut Moves<G::Move>) -> Priors;

    /// What a leaf is worth to its side to move, from -1 to 1.
    fn value(&mut self, position: &G, state: &State<G>) -> f32;
}

/// A child as a form may see it.
pub struct Seen<'t>(pub(super) &'t Node);

impl Seen<'_> {
    /// Those that are under way included.
    pub fn visits(&self) -> f32 {
        self.0.visits() as f32
    }

    /// The mean of its values, for the side that has the choice; `None`: not visited yet.
    pub fn mean(&self) -> Option<f32> {
        self.0.mean()
    }

    /// How likely the move looked at first sight.
    pub fn prior(&self) -> f32 {
        self.0.prior()
    }
}

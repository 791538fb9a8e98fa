//! The evaluator of games with a small net.

use super::{HiddenLayers, NetInputs, SmallNet};
use crate::{Score, eval::Evaluator};

/// A game that a small net evaluates.
pub trait NetGame: NetInputs {
    /// The net of this game, the same for all its positions.
    fn net(&self) -> &'static SmallNet;
}

/// Evaluator by the net of the game.
#[derive(Copy, Clone, Debug, Default)]
pub struct SmallNetEval;

impl<G: NetGame> Evaluator<G> for SmallNetEval {
    type State = HiddenLayers;

    fn refresh(&mut self, position: &G) -> HiddenLayers {
        position.net().refresh(position)
    }

    fn update(&mut self, layers: &HiddenLayers, before: &G, mv: G::Move) -> HiddenLayers {
        before.net().update(layers, before, mv)
    }

    fn evaluate(&mut self, layers: &HiddenLayers, position: &G) -> Score {
        Score::cp(position.net().evaluate(layers, position))
    }
}

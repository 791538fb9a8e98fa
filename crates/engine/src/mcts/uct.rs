//! UCT policy: random playouts at the leaves, UCB1 selection.
//!
//! Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning" (2006); the formula is UCB1 of Auer,
//! Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002).

use std::f32::consts::SQRT_2;

use zeitnot_rules::{Color, Moves, Outcome};

use super::policy::{ChildStats, Policy, Priors};
use crate::eval::{EngineGame, State};

/// Longest playout in plies; longer ones are draws.
const MAX_PLAYOUT_PLIES: u32 = 512;

#[derive(Debug, Default)]
pub(crate) struct UctPolicy {
    rng: fastrand::Rng,
}

impl<G: EngineGame> Policy<G> for UctPolicy {
    const EXPAND_AFTER: u32 = 0;
    const SOLVES: bool = false;

    fn exploration(visits: f32) -> f32 {
        visits.max(1.0).ln()
    }

    /// UCB1 with rewards from 0 to 1; every child is visited once first.
    fn selection_score(child: &ChildStats<'_>, exploration: f32, _: f32) -> f32 {
        let Some(mean) = child.mean() else { return f32::INFINITY };
        (1.0 + mean) / 2.0 + SQRT_2 * (exploration / child.visits()).sqrt()
    }

    /// Uniform priors in random order.
    fn priors(&mut self, _: &mut G::Evaluator, _: &G, _: &State<G>, moves: &mut Moves<G::Move>) -> Priors {
        self.rng.shuffle(moves);
        moves.iter().map(|_| 1.0 / moves.len() as f32).collect()
    }

    fn evaluate_leaf(&mut self, _: &mut G::Evaluator, position: &G, _: &State<G>) -> f32 {
        let side = position.side_to_move();
        let mut position = position.clone();
        for _ in 0..MAX_PLAYOUT_PLIES {
            let settled = position.quick_outcome();
            if settled.is_over() {
                return value_of(settled, side);
            }
            let Some(mv) = position.pick(|moves| self.rng.usize(..moves)) else {
                return value_of(position.no_moves_outcome(), side);
            };
            position.play(mv);
        }
        0.0
    }
}

fn value_of(outcome: Outcome, side: Color) -> f32 {
    match outcome {
        Outcome::Ongoing | Outcome::Draw(_) => 0.0,
        Outcome::Win(winner, _) if winner == side => 1.0,
        Outcome::Win(..) => -1.0,
    }
}

//! The course form, UCT: a leaf is worth what a game of random moves from there comes to.
//!
//! Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning" (2006); the formula is UCB1 of Auer,
//! Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002).

use std::f32::consts::SQRT_2;

use zeitnot_rules::{Color, Moves, Outcome};

use super::policy::{Policy, Priors, Seen};
use crate::eval::{EngineGame, State};

/// A game of random moves that is not over after so many plies is a draw.
const LONGEST: u32 = 512;

/// See the module's comment.
#[derive(Debug, Default)]
pub struct UctPolicy {
    rng: fastrand::Rng,
}

impl<G: EngineGame> Policy<G> for UctPolicy {
    const RIPE: u32 = 0;
    const PROVES: bool = false;

    fn growth(visits: f32) -> f32 {
        visits.max(1.0).ln()
    }

    /// UCB1, of rewards from 0 to 1. Each child is visited once before any is visited again.
    fn urgency(child: &Seen<'_>, growth: f32, _: f32) -> f32 {
        let Some(mean) = child.mean() else { return f32::INFINITY };
        (1.0 + mean) / 2.0 + SQRT_2 * (growth / child.visits()).sqrt()
    }

    /// No move looks better than another; chance says which comes first.
    fn priors(&mut self, _: &G, _: &State<G>, moves: &mut Moves<G::Move>) -> Priors {
        self.rng.shuffle(moves);
        moves.iter().map(|_| 1.0 / moves.len() as f32).collect()
    }

    fn value(&mut self, position: &G, _: &State<G>) -> f32 {
        let side = position.side();
        let mut position = position.clone();
        for _ in 0..LONGEST {
            let settled = position.settled();
            if settled.is_over() {
                return value_of(settled, side);
            }
            let Some(mv) = position.pick(|moves| self.rng.usize(..moves)) else {
                return value_of(position.stuck(), side);
            };
            position.play(mv);
        }
        0.0
    }
}

/// What an outcome is worth to a side.
fn value_of(outcome: Outcome, side: Color) -> f32 {
    match outcome {
        Outcome::Ongoing | Outcome::Draw(_) => 0.0,
        Outcome::Win(winner, _) if winner == side => 1.0,
        Outcome::Win(..) => -1.0,
    }
}

//! The strong form, PUCT: a leaf is worth its static evaluation once nothing hangs, and moves that look
//! good are looked at first.
//!
//! Sources: Rosin, "Multi-armed bandits with episode context" (2011), for PUCT; Silver et al., "Mastering
//! the game of Go without human knowledge" (2017), for its form and for values in place of playouts. They
//! have a network where we have the judge of the game.

use zeitnot_rules::Moves;

use super::{
    policy::{Policy, Priors, Seen},
    win_value,
};
use crate::eval::{EngineGame, Evaluator, State};

/// How much a move that looks good is looked into before its value counts.
const EXPLORATION: f32 = 1.3;
/// First-play urgency: a child that nobody has seen is taken to be worse than its parent by this.
const UNSEEN: f32 = 0.1;
/// A move that looks better by so many centipawns is e times as likely.
const TEMPERATURE: f32 = 150.0;
/// The part of the priors that all moves share alike: none is ruled out at first sight.
const EVEN: f32 = 0.15;
/// A check looks better than it does at first sight, in centipawns.
const CHECK: i32 = 120;
/// Captures are played out for so many plies.
const QUIESCENCE: u32 = 8;
/// A capture that stays below alpha by more than this is not tried.
const DELTA: i32 = 150;

/// See the module's comment.
pub struct PuctPolicy<G: EngineGame> {
    judge: G::Evaluator,
}

impl<G: EngineGame> Default for PuctPolicy<G> {
    fn default() -> Self {
        PuctPolicy { judge: G::Evaluator::default() }
    }
}

impl<G: EngineGame> Policy<G> for PuctPolicy<G> {
    const RIPE: u32 = 1;
    const PROVES: bool = true;

    fn growth(visits: f32) -> f32 {
        EXPLORATION * visits.sqrt()
    }

    fn urgency(child: &Seen<'_>, growth: f32, mean: f32) -> f32 {
        child.mean().unwrap_or(mean - UNSEEN) + growth * child.prior() / (1.0 + child.visits())
    }

    fn priors(&mut self, position: &G, state: &State<G>, moves: &mut Moves<G::Move>) -> Priors {
        let looks: Moves<i32> = moves.iter().map(|&mv| self.looks(position, state, mv)).collect();
        let best = looks.iter().copied().max().unwrap_or_default();
        let weights: Priors = looks.iter().map(|&look| ((look - best) as f32 / TEMPERATURE).exp()).collect();
        let all: f32 = weights.iter().sum();
        let even = EVEN / moves.len() as f32;
        weights.iter().map(|weight| even + (1.0 - EVEN) * weight / all).collect()
    }

    fn value(&mut self, position: &G, state: &State<G>) -> f32 {
        win_value::value(self.quiesce(position, state, -win_value::MOST, win_value::MOST, QUIESCENCE))
    }
}

impl<G: EngineGame> PuctPolicy<G> {
    /// What a move looks like at first sight, in centipawns: the position after it, less what is lost there.
    fn looks(&self, position: &G, state: &State<G>, mv: G::Move) -> i32 {
        let mut child = position.clone();
        child.play(mv);
        let after = -self.judge.score(&self.judge.step(state, position, mv), &child).get();
        let gain = position.gain(mv);
        let lost = match () {
            () if !position.exchange(mv, 0) => position.worth(mv),
            () if gain > 0 && !position.exchange(mv, gain) => gain,
            () => 0,
        };
        after - lost + if child.is_check() { CHECK } else { 0 }
    }

    /// The evaluation in centipawns once the captures that lose nothing are played out.
    fn quiesce(&self, position: &G, state: &State<G>, mut alpha: i32, beta: i32, left: u32) -> i32 {
        let stand = self.judge.score(state, position).get();
        if left == 0 || stand >= beta {
            return stand;
        }
        let mut best = stand;
        alpha = alpha.max(stand);
        let mut moves = position.noisy_moves();
        moves.sort_unstable_by_key(|&mv| (-position.gain(mv), position.worth(mv)));
        for mv in moves {
            if stand + position.gain(mv) + DELTA <= alpha || !position.exchange(mv, 0) {
                continue;
            }
            let mut child = position.clone();
            child.play(mv);
            let next = self.judge.step(state, position, mv);
            let score = -self.quiesce(&child, &next, -beta, -alpha, left - 1);
            best = best.max(score);
            alpha = alpha.max(score);
            if score >= beta {
                break;
            }
        }
        best
    }
}

//! PUCT policy: static evaluation after a short quiescence search at the leaves, priors from static evaluation.
//!
//! Sources: Rosin, "Multi-armed bandits with episode context" (2011), for PUCT; Silver et al., "Mastering the
//! game of Go without human knowledge" (2017), for its formula and for values in place of playouts. The constants
//! are hand-picked.

use zeitnot_rules::Moves;

use super::{
    policy::{ChildStats, Policy, Priors},
    win_value,
};
use crate::eval::{EngineGame, Evaluator, State};

const EXPLORATION: f32 = 1.3;
/// First-play urgency: an unvisited child counts as worse than its parent by this.
const FPU_REDUCTION: f32 = 0.1;
/// Softmax temperature of the priors, in centipawns.
const TEMPERATURE: f32 = 150.0;
/// Share of the priors that is spread uniformly over all moves.
const UNIFORM_SHARE: f32 = 0.15;
/// Bonus for checks in the priors, in centipawns.
const CHECK_BONUS: i32 = 120;
const QUIESCENCE_PLIES: u32 = 8;
/// Delta-pruning margin, in centipawns.
const DELTA: i32 = 150;

#[derive(Debug, Default)]
pub(crate) struct PuctPolicy;

impl<G: EngineGame> Policy<G> for PuctPolicy {
    const EXPAND_AFTER: u32 = 1;
    const SOLVES: bool = true;

    fn exploration(visits: f32) -> f32 {
        EXPLORATION * visits.sqrt()
    }

    fn selection_score(child: &ChildStats<'_>, exploration: f32, mean: f32) -> f32 {
        child.mean().unwrap_or(mean - FPU_REDUCTION) + exploration * child.prior() / (1.0 + child.visits())
    }

    fn priors(
        &mut self,
        evaluator: &mut G::Evaluator,
        position: &G,
        state: &State<G>,
        moves: &mut Moves<G::Move>,
    ) -> Priors {
        let look = |&mv| static_score(evaluator, position, state, mv);
        let looks: Moves<i32> = moves.iter().map(look).collect();
        let best = looks.iter().copied().max().unwrap_or_default();
        let weights: Priors = looks.iter().map(|&look| ((look - best) as f32 / TEMPERATURE).exp()).collect();
        let all: f32 = weights.iter().sum();
        let even = UNIFORM_SHARE / moves.len() as f32;
        weights.iter().map(|weight| even + (1.0 - UNIFORM_SHARE) * weight / all).collect()
    }

    fn evaluate_leaf(&mut self, evaluator: &mut G::Evaluator, position: &G, state: &State<G>) -> f32 {
        let window = (-win_value::MAX_CP, win_value::MAX_CP);
        win_value::from_cp(quiesce::<G>(evaluator, position, state, window, QUIESCENCE_PLIES))
    }
}

/// Static score of a move in centipawns: evaluation after it, less the material it loses by static exchange.
fn static_score<G: EngineGame>(
    evaluator: &mut G::Evaluator,
    position: &G,
    state: &State<G>,
    mv: G::Move,
) -> i32 {
    let child = position.after(mv);
    let next = evaluator.update(state, position, mv);
    let after = -evaluator.evaluate(&next, &child).get();
    let gain = position.gain(mv);
    let lost = match () {
        () if !position.see_ge(mv, 0) => position.piece_value(mv),
        () if gain > 0 && !position.see_ge(mv, gain) => gain,
        () => 0,
    };
    after - lost + if child.is_check() { CHECK_BONUS } else { 0 }
}

/// Quiescence search over captures that do not lose material, within a window.
fn quiesce<G: EngineGame>(
    evaluator: &mut G::Evaluator,
    position: &G,
    state: &State<G>,
    (mut alpha, beta): (i32, i32),
    left: u32,
) -> i32 {
    let stand = evaluator.evaluate(state, position).get();
    if left == 0 || stand >= beta {
        return stand;
    }
    let mut best = stand;
    alpha = alpha.max(stand);
    let mut moves = position.noisy_moves();
    moves.sort_unstable_by_key(|&mv| (-position.gain(mv), position.piece_value(mv)));
    for mv in moves {
        if stand + position.gain(mv) + DELTA <= alpha || !position.see_ge(mv, 0) {
            continue;
        }
        let child = position.after(mv);
        let next = evaluator.update(state, position, mv);
        let score = -quiesce::<G>(evaluator, &child, &next, (-beta, -alpha), left - 1);
        best = best.max(score);
        alpha = alpha.max(score);
        if score >= beta {
            break;
        }
    }
    best
}

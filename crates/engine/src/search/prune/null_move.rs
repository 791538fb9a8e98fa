//! Null move pruning: if passing still fails high, some move will as well.
//!
//! [`Tactics::pass`](zeitnot_rules::Tactics::pass) refuses where zugzwang is likely.
//!
//! Source: Chess Programming Wiki, "Null Move Pruning".

use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Worker, tunable::tunables},
};

tunables! {
    MIN_DEPTH = NullMoveDepth: 3, 1..=10;
    /// Reduction in plies: `BASE_REDUCTION + depth / DEPTH_DIVISOR`, …
    BASE_REDUCTION = NullMoveBase: 4, 1..=8;
    DEPTH_DIVISOR = NullMoveDepthDivisor: 3, 1..=16;
    /// … and one ply more for each so many centipawns above beta, up to a maximum.
    EVAL_DIVISOR = NullMoveEvalDivisor: 200, 50..=800;
    MAX_EVAL_REDUCTION = NullMoveEvalMax: 3, 0..=8;
    /// The static evaluation must be above beta by the margin, less the slope for each ply of depth.
    STATIC_MARGIN = NullMoveStaticMargin: 120, -200..=400;
    STATIC_SLOPE = NullMoveStaticSlope: 20, 0..=60;
}

pub(crate) fn cut<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<Option<Score>, Stopped> {
    let beta = node.window.beta;
    let needed = beta.offset(STATIC_MARGIN.get() - STATIC_SLOPE.get() * node.depth);
    let twice = node.ply > 0 && worker.move_at(node.ply - 1).is_none();
    if K::PV
        || node.in_check
        || twice
        || node.depth < MIN_DEPTH.get()
        || node.eval < beta
        || node.static_eval < needed
        || beta.is_decisive()
    {
        return Ok(None);
    }
    let Some(passed) = node.position.pass() else { return Ok(None) };
    let surplus = (node.eval.get() - beta.get()) / EVAL_DIVISOR.get();
    let by_depth = BASE_REDUCTION.get() + node.depth / DEPTH_DIVISOR.get();
    let reduction = by_depth + surplus.min(MAX_EVAL_REDUCTION.get());
    worker.shared.table.prefetch(passed.table_key());
    let score = worker.search_null_move(node, |worker| {
        worker.node::<NonPvNode>(
            &passed,
            state,
            node.depth - reduction,
            -node.window.null_at_beta(),
            node.ply + 1,
        )
    })?;
    let score = -score;
    // A mate found after a null move is unproven.
    Ok((score >= beta).then_some(if score.is_decisive() { beta } else { score }))
}

//! Null move pruning: if passing still fails high, some move will as well.
//!
//! [`Tactics::pass`](zeitnot_rules::Tactics::pass) refuses where zugzwang is likely.
//!
//! Source: Chess Programming Wiki, "Null Move Pruning".

use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Worker},
};

const MIN_DEPTH: i32 = 3;
/// Reduction in plies: `BASE_REDUCTION + depth / DEPTH_DIVISOR`, …
const BASE_REDUCTION: i32 = 3;
const DEPTH_DIVISOR: i32 = 3;
/// … and one ply more for each so many centipawns above beta, up to a maximum.
const EVAL_DIVISOR: i32 = 200;
const MAX_EVAL_REDUCTION: i32 = 3;

pub(crate) fn cut<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<Option<Score>, Stopped> {
    let beta = node.window.beta;
    let twice = node.ply > 0 && worker.move_at(node.ply - 1).is_none();
    if K::PV || node.in_check || twice || node.depth < MIN_DEPTH || node.eval < beta || beta.is_decisive() {
        return Ok(None);
    }
    let Some(passed) = node.position.pass() else { return Ok(None) };
    let surplus = (node.eval.get() - beta.get()) / EVAL_DIVISOR;
    let reduction = BASE_REDUCTION + node.depth / DEPTH_DIVISOR + surplus.min(MAX_EVAL_REDUCTION);
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

//! Null-move pruning: if the other side may move twice and we still fail high, our move will as well.
//!
//! Source: Chess Programming Wiki, "Null Move Pruning". Where passing could be better than every move
//! (zugzwang), [`Tactics::pass`](zeitnot_rules::Tactics::pass) does not pass.

use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Worker},
};

const MIN_DEPTH: i32 = 3;

/// The score with which the node may be left.
pub fn cut<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<Option<Score>, Stopped> {
    let beta = node.window.beta;
    let twice = node.ply > 0 && worker.played(node.ply - 1).is_none();
    if K::PV || node.check || twice || node.depth < MIN_DEPTH || node.eval < beta || beta.is_decisive() {
        return Ok(None);
    }
    let Some(passed) = node.position.pass() else { return Ok(None) };
    let surplus = (node.eval.get() - beta.get()) / 200;
    let reduction = 3 + node.depth / 3 + surplus.min(3);
    worker.shared.table.prefetch(passed.key());
    let score = worker.pass(node, |worker| {
        worker.node::<NonPvNode>(&passed, state, node.depth - reduction, -node.window.at_beta(), node.ply + 1)
    })?;
    let score = -score;
    // A mate found after a pass is none.
    Ok((score >= beta).then_some(if score.is_decisive() { beta } else { score }))
}

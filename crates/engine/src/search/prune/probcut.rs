//! Probcut: a capture that comes out well above beta in a shallow search would do so in a deep one.
//!
//! Source: Chess Programming Wiki, "ProbCut".

use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Window, Worker, move_picker::Scope},
    transposition_table::{Bound, Entry},
};

const MIN_DEPTH: i32 = 5;
/// Above beta, in centipawns; less where the position gets better.
const MARGIN: i32 = 180;
const IMPROVING: i32 = 50;
/// The shallow search is less deep by this.
const LESS: i32 = 4;

/// The score with which the node may be left.
pub fn cut<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<Option<Score>, Stopped> {
    if K::PV || node.check || node.depth < MIN_DEPTH || node.window.beta.is_decisive() {
        return Ok(None);
    }
    let &Node { position, ply, depth, .. } = node;
    let goal = node.window.beta.offset(MARGIN - IMPROVING * i32::from(node.improving));
    let is_below = |entry: Entry| i32::from(entry.depth) > depth - LESS && entry.score.from_tt(ply) < goal;
    if node.entry.is_some_and(is_below) {
        return Ok(None);
    }

    let missing = goal.get() - node.static_eval.get();
    let window = Window { alpha: goal.below(), beta: goal };
    let table_move = node.table_move.filter(|&mv| position.is_noisy(mv));
    let mut picker = worker.picker(Scope::Noisy, table_move);
    let before = worker.before(ply);
    let mut found = None;
    while let Some(pick) = worker.pick(&mut picker, position, &before, ply) {
        if !position.exchange(pick.mv, missing) {
            continue;
        }
        let child = worker.child(position, pick.mv);
        let score = -worker.follow((position, state, ply), pick.mv, &child, |worker, next| {
            // What does not even stand up to quiescence need not be searched.
            match worker.quiesce::<NonPvNode>(&child, next, -window, ply + 1)? {
                score if score > -goal => Ok(score),
                _ => worker.node::<NonPvNode>(&child, next, depth - LESS, -window, ply + 1),
            }
        })?;
        if score >= goal {
            found = Some((pick.mv, score));
            break;
        }
    }
    worker.leave_moves(picker);
    let Some((mv, score)) = found else { return Ok(None) };
    let (mv, depth) = (position.pack(mv), (depth - LESS + 1) as u8);
    let entry = Entry { mv, score: score.to_tt(ply), eval: node.judged, depth, bound: Bound::Lower };
    worker.shared.table.store(position.key(), entry);
    Ok(Some(score))
}

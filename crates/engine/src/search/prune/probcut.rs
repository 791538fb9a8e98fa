//! ProbCut: a capture that is well above beta in a shallow search would be so in a deep one.
//!
//! Source: Chess Programming Wiki, "ProbCut".

use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
    search::{Node, NodeType, NonPvNode, Window, Worker, move_picker::Scope, tunable::tunables},
    transposition_table::{Bound, Entry},
};

tunables! {
    MIN_DEPTH = ProbCutDepth: 5, 5..=12;
    /// Margin above beta in centipawns, smaller by the second where the evaluation improves.
    MARGIN = ProbCutMargin: 200, 50..=500;
    IMPROVING_MARGIN = ProbCutImproving: 50, 0..=200;
    /// Reduction of the shallow search in plies, less than the minimum depth.
    REDUCTION = ProbCutReduction: 4, 2..=5;
}

pub(crate) fn cut<G: EngineGame, K: NodeType>(
    worker: &mut Worker<'_, G>,
    node: &Node<'_, G>,
    state: &State<G>,
) -> Result<Option<Score>, Stopped> {
    if K::PV || node.in_check || node.depth < MIN_DEPTH.get() || node.window.beta.is_decisive() {
        return Ok(None);
    }
    let &Node { position, ply, depth, .. } = node;
    let reduced = depth - REDUCTION.get();
    let margin = MARGIN.get() - IMPROVING_MARGIN.get() * i32::from(node.improving);
    let goal = node.window.beta.offset(margin);
    let is_below = |entry: Entry| i32::from(entry.depth) > reduced && entry.score.to_root(ply) < goal;
    if node.entry.is_some_and(is_below) {
        return Ok(None);
    }

    let missing = goal.get() - node.static_eval.get();
    let window = Window { alpha: goal.below(), beta: goal };
    let tt_move = node.tt_move.filter(|&mv| position.is_noisy(mv));
    let mut picker = worker.picker(Scope::Noisy, tt_move);
    let place = worker.place(ply);
    let mut found = None;
    while let Some(pick) = worker.pick(&mut picker, position, &place) {
        if !position.see_ge(pick.mv, missing) {
            continue;
        }
        let child = worker.child(position, pick.mv);
        let score = -worker.search_child((position, state, ply), pick.mv, &child, |worker, next| {
            // A capture that fails in quiescence is not searched further.
            match worker.quiesce::<NonPvNode>(&child, next, -window, ply + 1)? {
                score if score > -goal => Ok(score),
                _ => worker.node::<NonPvNode>(&child, next, reduced, -window, ply + 1),
            }
        })?;
        if score >= goal {
            found = Some((pick.mv, score));
            break;
        }
    }
    worker.finish_moves(picker);
    let Some((mv, score)) = found else { return Ok(None) };
    let (mv, depth) = (position.pack(mv), (reduced + 1) as u8);
    let entry = Entry { mv, score: score.to_tt(ply), eval: node.raw_eval, depth, bound: Bound::Lower };
    worker.shared.table.store(position.table_key(), entry);
    Ok(Some(score))
}

//! Reverse futility pruning: near the leaves and far above beta, the node fails high.
//!
//! Source: Chess Programming Wiki, "Reverse Futility Pruning".

use zeitnot_rules::Tactics;

use crate::{
    Score,
    search::{Node, NodeType, tunable::tunables},
};

tunables! {
    MAX_DEPTH = ReverseFutilityDepth: 7, 1..=16;
    /// Margin above beta for each ply of depth, in centipawns.
    MARGIN = ReverseFutilityMargin: 75, 10..=250;
}

pub(crate) fn cut<G: Tactics, K: NodeType>(node: &Node<'_, G>) -> Option<Score> {
    if K::PV || node.in_check || node.depth > MAX_DEPTH.get() || node.window.beta.is_decisive() {
        return None;
    }
    let margin = MARGIN.get() * (node.depth - i32::from(node.improving));
    (node.eval.offset(-margin) >= node.window.beta).then_some(node.eval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{NonPvNode, PvNode, Window, correction::CorrectionKey};
    use zeitnot_rules::chess::Chess;

    fn node(position: &Chess, eval: i32, depth: i32) -> Node<'_, Chess> {
        let window = Window { alpha: Score::ZERO, beta: Score::cp(1) };
        let (eval, correction_key) = (Score::cp(eval), CorrectionKey::new(position, None, None));
        let (raw_eval, static_eval) = (eval, eval);
        Node {
            position,
            ply: 3,
            depth,
            window,
            in_check: false,
            raw_eval,
            static_eval,
            eval,
            correction_key,
            entry: None,
            tt_move: None,
            improving: false,
            tb_floor: Score::NEG_INFINITE,
            tt_extension: 0,
            without_tt_move: false,
        }
    }

    #[test]
    fn cuts_only_off_the_principal_variation_and_near_the_leaves() {
        let p = Chess::start();
        assert!(cut::<_, NonPvNode>(&node(&p, 200, 2)).is_some());
        assert!(cut::<_, NonPvNode>(&node(&p, 100, 2)).is_none());
        assert!(cut::<_, NonPvNode>(&node(&p, 5000, MAX_DEPTH.get() + 1)).is_none());
        assert!(cut::<_, PvNode>(&node(&p, 5000, 2)).is_none());
    }
}

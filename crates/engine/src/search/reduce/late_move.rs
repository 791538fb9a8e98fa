//! Late-move reductions: the later a move in the order, the less deep it is searched at first.
//!
//! Source: Chess Programming Wiki, "Late Move Reductions".

use std::sync::LazyLock;

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MIN_DEPTH: i32 = 3;
/// Moves that are never reduced.
const FIRST: usize = 2;
/// This much history takes a ply off the reduction, or adds one.
const HISTORY: i32 = 8_192;

/// By depth and number of the move: `BASE + ln(depth) · ln(number) / SLOPE`.
static PLIES: LazyLock<[[i8; 64]; 64]> = LazyLock::new(|| {
    const BASE: f64 = 0.75;
    const SLOPE: f64 = 2.2;
    let ln = |x: usize| (x.max(1) as f64).ln();
    std::array::from_fn(|depth| std::array::from_fn(|number| (BASE + ln(depth) * ln(number) / SLOPE) as i8))
});

/// Plies taken off the search of the position behind a move.
pub fn plies<G: Tactics, K: NodeType>(node: &Node<'_, G>, candidate: &Candidate<G::Move>, child: &G) -> i32 {
    if node.depth < MIN_DEPTH || candidate.index < FIRST || !candidate.quiet {
        return 0;
    }
    let mut plies = i32::from(PLIES[(node.depth as usize).min(63)][candidate.index.min(63)]);
    plies -= i32::from(K::PV);
    plies -= i32::from(node.check || child.is_check());
    plies += i32::from(!node.improving);
    plies -= (candidate.history / HISTORY).clamp(-2, 2);
    plies.clamp(0, node.depth - 2)
}

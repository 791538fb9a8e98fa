//! Late move reductions: quiet moves late in the order are first searched less deeply.
//!
//! Source: Chess Programming Wiki, "Late Move Reductions", with the logarithmic formula of Senpai and others.

use std::sync::LazyLock;

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType};

const MIN_DEPTH: i32 = 3;
/// The first moves are never reduced.
const UNREDUCED_MOVES: usize = 2;
/// History score worth one ply of reduction.
const HISTORY_DIVISOR: i32 = 8_192;
/// Most plies that history adds or removes.
const MAX_HISTORY_PLIES: i32 = 2;
const BASE: f64 = 0.75;
const DIVISOR: f64 = 2.2;
/// Depths and moves beyond this are reduced as the last one.
const TABLE_SIZE: usize = 64;

/// Reduction by depth and move number: `BASE + ln(depth) · ln(number) / DIVISOR`.
static PLIES: LazyLock<[[i8; TABLE_SIZE]; TABLE_SIZE]> = LazyLock::new(|| {
    let ln = |x: usize| (x.max(1) as f64).ln();
    std::array::from_fn(|depth| std::array::from_fn(|number| (BASE + ln(depth) * ln(number) / DIVISOR) as i8))
});

/// Returns the reduction of a move's search, in plies.
pub(crate) fn plies<G: Tactics, K: NodeType>(
    node: &Node<'_, G>,
    candidate: &Candidate<G::Move>,
    child: &G,
) -> i32 {
    if node.depth < MIN_DEPTH || candidate.index < UNREDUCED_MOVES || !candidate.quiet {
        return 0;
    }
    let mut plies =
        i32::from(PLIES[(node.depth as usize).min(TABLE_SIZE - 1)][candidate.index.min(TABLE_SIZE - 1)]);
    plies -= i32::from(K::PV);
    plies -= i32::from(node.in_check || child.is_check());
    plies += i32::from(!node.improving);
    plies -= (candidate.history / HISTORY_DIVISOR).clamp(-MAX_HISTORY_PLIES, MAX_HISTORY_PLIES);
    plies.clamp(0, node.depth - 2)
}

//! Late move reductions: quiet moves late in the order, and captures that lose material, are first searched less deeply.
//!
//! Source: Chess Programming Wiki, "Late Move Reductions", with the logarithmic formula of Senpai and others.

use std::sync::LazyLock;

use zeitnot_rules::Tactics;

use crate::search::{Candidate, Node, NodeType, tunable::tunables};

tunables! {
    MIN_DEPTH = LateMoveDepth: 3, 2..=8;
    /// The first moves are never reduced.
    UNREDUCED_MOVES = LateMoveCount: 2, 1..=8;
    /// Reduction by depth and move number: `BASE + ln(depth) · ln(number) / DIVISOR`, both in hundredths.
    BASE = LateMoveBase: 65, 0..=250;
    DIVISOR = LateMoveDivisor: 220, 100..=500;
    /// History score worth one ply of reduction.
    HISTORY_DIVISOR = LateMoveHistoryDivisor: 9500, 1000..=32768;
    /// Most plies that history adds or removes.
    MAX_HISTORY_PLIES = LateMoveHistoryMax: 2, 0..=8;
}

/// Depths and moves beyond this are reduced as the last one.
const TABLE_SIZE: usize = 64;

/// Natural logarithms.
static LN: LazyLock<[f64; TABLE_SIZE]> =
    LazyLock::new(|| std::array::from_fn(|number| (number.max(1) as f64).ln()));

/// Reduction by depth and move number alone.
fn base_plies(depth: i32, number: usize) -> i32 {
    let ln = |number: usize| LN[number.min(TABLE_SIZE - 1)];
    let (base, divisor) = (f64::from(BASE.get()) / 100.0, f64::from(DIVISOR.get()) / 100.0);
    (base + ln(depth as usize) * ln(number) / divisor) as i32
}

/// Returns the reduction of a move's search, in plies.
pub(crate) fn plies<G: Tactics, K: NodeType>(
    node: &Node<'_, G>,
    candidate: &Candidate<G::Move>,
    child: &G,
) -> i32 {
    if node.depth < MIN_DEPTH.get() || (candidate.index as i32) < UNREDUCED_MOVES.get() {
        return 0;
    }
    let mut plies = base_plies(node.depth, candidate.index);
    if !candidate.quiet {
        return if candidate.losing { (plies - 1).clamp(0, node.depth - 2) } else { 0 };
    }
    plies -= i32::from(K::PV);
    plies -= i32::from(node.in_check || child.is_check());
    plies += i32::from(!node.improving);
    let max = MAX_HISTORY_PLIES.get();
    plies -= (candidate.history / HISTORY_DIVISOR.get()).clamp(-max, max);
    plies.clamp(0, node.depth - 2)
}

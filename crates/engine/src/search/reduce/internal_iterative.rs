//! Internal iterative reduction: a node without a table move is searched less deeply; the next iteration will
//! have one.
//!
//! Source: Chess Programming Wiki, "Internal Iterative Reductions".

use crate::search::tunable::tunables;

tunables! {
    MIN_DEPTH = InternalIterativeDepth: 3, 2..=12;
}

pub(crate) fn plies(depth: i32, has_table_move: bool) -> i32 {
    i32::from(depth >= MIN_DEPTH.get() && !has_table_move)
}

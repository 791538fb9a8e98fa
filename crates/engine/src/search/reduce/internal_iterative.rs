//! Internal iterative reduction: a node that no earlier search has a move for is searched less deep;
//! the next iteration will come with one.
//!
//! Source: Chess Programming Wiki, "Internal Iterative Reductions".

const MIN_DEPTH: i32 = 4;

/// Plies taken off.
pub fn plies(depth: i32, has_table_move: bool) -> i32 {
    i32::from(depth >= MIN_DEPTH && !has_table_move)
}

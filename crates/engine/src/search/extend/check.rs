//! Check extension: a node in check is searched one ply deeper.
//!
//! Source: Chess Programming Wiki, "Check Extensions".

/// Lines are extended to at most this many times the depth of the iteration.
const MAX_GROWTH: i32 = 2;

pub(crate) fn plies(in_check: bool, ply: u16, iteration: i32) -> i32 {
    i32::from(in_check && i32::from(ply) < MAX_GROWTH * iteration)
}

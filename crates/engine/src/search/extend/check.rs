//! Check extension: a node in check is searched a ply deeper, so that a check does not push what it
//! delays beyond the horizon.
//!
//! Source: Chess Programming Wiki, "Check Extensions".

/// Plies added. Not without end: a line grows to twice the depth of the iteration at most.
pub fn plies(check: bool, ply: u16, iteration: i32) -> i32 {
    i32::from(check && i32::from(ply) < 2 * iteration)
}

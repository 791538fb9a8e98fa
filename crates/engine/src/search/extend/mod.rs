//! Extensions, one file each, and what bounds them.

pub(crate) mod check;
pub(crate) mod singular;

/// Lines are extended to at most this many times the depth of the iteration.
const MAX_GROWTH: i32 = 2;

/// Returns whether a line may still be extended at this ply.
fn may_grow(ply: u16, iteration: i32) -> bool {
    i32::from(ply) < MAX_GROWTH * iteration
}

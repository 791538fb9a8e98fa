//! Reductions, one file each.

pub(crate) mod hindsight;
pub(crate) mod internal_iterative;
pub(crate) mod late_move;

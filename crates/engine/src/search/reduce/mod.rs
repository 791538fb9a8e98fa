//! Reductions, one file each.

pub mod internal_iterative;
pub mod late_move;

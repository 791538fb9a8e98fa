//! Pruning techniques, one file each: `cut` prunes a whole node, `skips` a single move.

pub mod futility;
pub mod late_move;
pub mod mate_distance;
pub mod null_move;
pub mod probcut;
pub mod reverse_futility;
pub mod see;

//! Pruning techniques, one file each: `cut` prunes a whole node, `skips` a single move.

pub(crate) mod futility;
pub(crate) mod late_move;
pub(crate) mod mate_distance;
pub(crate) mod null_move;
pub(crate) mod probcut;
pub(crate) mod reverse_futility;
pub(crate) mod see;

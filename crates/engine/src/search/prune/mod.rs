//! Ways not to search, one a file: at a node before its moves, or a move at a time.

pub mod futility;
pub mod late_move;
pub mod mate_distance;
pub mod null_move;
pub mod probcut;
pub mod reverse_futility;
pub mod see;

//! Ways to search less deep, one a file.

pub mod internal_iterative;
pub mod late_move;

//! Ways to search deeper, one a file.

pub mod check;

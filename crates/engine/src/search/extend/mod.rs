//! Extensions, one file each.

pub mod check;

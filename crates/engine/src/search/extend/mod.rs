//! Extensions, one file each.

pub(crate) mod check;

//! Extensions, one file each.

pub(crate) mod check;
pub(crate) mod singular;

//! Teams and arena tournaments that the account joins.

pub(crate) mod joining;
pub(crate) mod schedule;

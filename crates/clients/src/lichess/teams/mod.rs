//! Teams and arena tournaments that the account joins.

pub(crate) mod schedule;
pub(crate) mod tournament;

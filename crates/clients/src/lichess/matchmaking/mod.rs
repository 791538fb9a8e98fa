//! Challenges to other bots when nobody plays us.

pub(crate) mod decline_history;
pub(crate) mod matchmaker;
pub(crate) mod outgoing;

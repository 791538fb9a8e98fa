//! Challenges to other bots when nobody plays us, and to players whom the owner chooses.

pub(crate) mod config;
pub(crate) mod decline_history;
mod not_now;
pub(crate) mod outgoing;
mod proposal;
pub(crate) mod weights;

//! Challenges to other bots when nobody plays us.

pub(crate) mod config;
pub(crate) mod decline_history;
mod matchmaker;
mod not_now;
pub(crate) mod outgoing;
mod proposal;
mod steady_clock;

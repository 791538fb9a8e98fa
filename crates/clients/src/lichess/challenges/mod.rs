//! Challenges to us: whose and which are accepted, and in which order.

pub(crate) mod accepted_time;
pub(crate) mod capacity;
pub(crate) mod config;
pub(crate) mod filter;
pub(crate) mod incoming;
pub(crate) mod list_updates;
pub(crate) mod players;
pub(crate) mod queue;

//! One game: its stream becomes events for the player, the player's actions become requests.

pub(crate) mod actions;
mod clocks;
pub(crate) mod context;
mod desync;
mod idle;
pub(crate) mod move_sender;
mod opponent;
mod player;
pub(crate) mod result;
pub(crate) mod rules;
pub(crate) mod session;
mod start;
mod tracker;

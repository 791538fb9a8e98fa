//! The account: logging in, its state machine, and what performs its effects.

pub(crate) mod commands;
mod game_starts;
mod game_tasks;
// Public for simulations only.
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub(crate) mod interface;
pub(crate) mod login;
pub(crate) mod lookup;
pub(crate) mod performer;
pub(crate) mod requests;
mod slots;
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub(crate) mod state;
mod suspended;

//! The account: logging in, its event stream, and the games that run.

pub(crate) mod commands;
mod game_starts;
#[allow(dead_code)]
pub(crate) mod interface;
pub(crate) mod login;
pub(crate) mod session;
mod slots;
#[allow(dead_code)]
pub(crate) mod state;
mod suspended;
mod token_check;

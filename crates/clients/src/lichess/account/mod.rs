//! The account: logging in, its event stream, and the games that run.

pub(crate) mod commands;
mod game_starts;
pub(crate) mod login;
pub(crate) mod session;
mod slots;
mod suspended;
mod token_check;

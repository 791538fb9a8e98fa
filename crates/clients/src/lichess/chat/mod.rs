//! Chat in games: greetings, and answers to commands.

pub(crate) mod commands;
pub(crate) mod facts;
pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod sender;

//! Chat in games: greetings, and answers to commands.

pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod sender;

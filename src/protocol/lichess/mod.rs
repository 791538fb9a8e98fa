//! The Lichess Bot API: what we do there, apart from how it is said.

pub mod challenges;
pub mod chat;
pub mod grudges;
pub mod matchmaking;
pub mod people;
pub mod records;
pub mod terms;

//! The Lichess Bot API.

mod arena;
mod client;

//! Helpers that several modules share.

pub mod arena;
pub mod baits;
pub mod bot;
pub mod client;
pub mod command;
pub mod contest_server;
pub mod engine;
pub mod files;
pub mod http_server;
pub mod imcs;
pub mod latency;
pub mod lichess_arena;
pub mod lichess_client;
pub mod lichess_server;
pub mod log;
pub mod pauses;
pub mod polyglot;
pub mod program;
pub mod pty;
#[cfg(feature = "redis")]
pub mod redis;
pub mod schema;
pub mod storage;
pub mod uci_engine;
pub mod web;

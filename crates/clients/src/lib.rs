//! Clients of game servers, one folder each: connect, speak the server's protocol, open a seat for each game. No
//! search, no rules.
//!
//! A new protocol is a folder here that implements [`Protocol`], and an entry in [`PROTOCOLS`].

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod backoff;
pub mod cerveau;
mod connection_log;
pub mod contest;
mod drive;
mod findings;
mod game_clock;
pub mod imcs;
pub mod lichess;
mod link;
pub mod lookup;
mod protocol;
mod registry;
mod session;
mod skipped;
pub mod tuc;

pub use backoff::Reconnect;
pub use connection_log::{CONNECTED, LOST};
pub use findings::{Findings, Written};
pub use protocol::{Protocol, ProtocolError, Shutdown};
pub use registry::{PROTOCOLS, ProtocolEntry, Server};
use zeitnot_net::wait;
pub use zeitnot_seat::OrderQueue;

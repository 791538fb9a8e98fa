//! Lines of text over TCP and WebSocket in both directions, bounded in length and time, and helpers for HTTP, files,
//! timers, rates and configurations.
//!
//! The clients and the arena's listeners share this crate. It knows no protocol's messages.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod address;
mod append;
mod codec;
mod connection;
mod contradictions;
pub mod descriptors;
mod file_version;
pub mod http;
mod log_throttle;
mod outage;
mod quickack;
mod ration;
mod record_queue;
mod replace_file;
pub mod secret;
pub mod secret_file;
pub mod wait;

pub use address::{Address, BadAddress};
pub use append::append_whole;
pub use codec::{BadLine, MAX_LINE};
pub use connection::{Incoming, LineReader, LineWriter, NetError, accept_ws, over_tcp, over_telnet};
pub use contradictions::{Contradiction, Contradictions};
pub use file_version::{FileVersion, NewerFile};
pub use log_throttle::LogThrottle;
pub use outage::{Outage, OutageNews};
pub use ration::{Rate, Ration};
pub use record_queue::RecordQueue;
pub use replace_file::{NewFile, replace_file, replace_secret_file};
pub use tokio_tungstenite::tungstenite::http::StatusCode;

//! Shared cache: entries that other bots have found, on a Redis or Valkey server.
//!
//! A thread of its own talks to the server ([`worker`]), so that neither TLS nor a name that is looked up delays a move.
//! A player waits for a lookup beside its search, and only for a part of its time. A fault costs entries, never a game.
//!
//! Without the feature `redis` there is no client: [`absent`] takes the place of [`handle`], and the configuration
//! refuses every address.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

#[cfg(not(feature = "redis"))]
mod absent;
#[cfg(feature = "redis")]
mod client;
mod config;
#[cfg(feature = "redis")]
mod connection;
mod entry;
#[cfg(feature = "redis")]
mod handle;
#[cfg(feature = "redis")]
mod status;
#[cfg(feature = "redis")]
mod worker;

#[cfg(not(feature = "redis"))]
pub(super) use absent::SharedCache;
pub(super) use config::url;
pub use config::{BadSharedPrefix, BadSharedUrl, SharedPrefix, SharedUrl};
#[cfg(all(test, feature = "redis"))]
pub(super) use connection::Request;
pub(super) use entry::SharedKey;
#[cfg(feature = "redis")]
pub(super) use handle::SharedCache;

/// Lookups and entries, by what became of them.
#[derive(Debug, Default)]
pub(super) struct SharedCounts {
    /// Positions that the server knew.
    pub(super) found: AtomicU64,
    /// Positions that it did not know.
    pub(super) unknown: AtomicU64,
    /// Lookups without an answer in time.
    pub(super) unanswered: AtomicU64,
    /// Lookups that were not sent, as the server was away.
    pub(super) not_asked: AtomicU64,
    /// Entries that the server has taken.
    pub(super) stored: AtomicU64,
    /// Entries that it has not taken, or was not sent.
    pub(super) not_stored: AtomicU64,
}

impl fmt::Display for SharedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "; shared: ";
        for (counter, what) in [
            (&self.found, "found"),
            (&self.unknown, "unknown"),
            (&self.unanswered, "without an answer in time"),
            (&self.not_asked, "not asked for"),
            (&self.stored, "stored"),
            (&self.not_stored, "not stored"),
        ] {
            let count = counter.load(Relaxed);
            if count > 0 {
                write!(f, "{separator}{count} {what}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

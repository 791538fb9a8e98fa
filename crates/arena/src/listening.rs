//! A port that the arena listens on.

use std::{fmt, net::SocketAddr};

/// When a front has nothing more to do.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Ends {
    WithTournaments,
    WithItsGames,
    WhenStopped,
}

/// A port, as configured or as bound. Its text is the URL and the purpose.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Key of the address.
    pub(crate) key: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) ends: Ends,
    pub(crate) url: String,
    pub(crate) purpose: &'static str,
}

impl Listening {
    /// Whether it goes on when all tournaments and tables have ended.
    pub fn stays(&self) -> bool {
        self.ends == Ends::WhenStopped
    }

    pub(crate) fn is_datagram(&self) -> bool {
        self.url.starts_with("udp:")
    }
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.url, self.purpose)
    }
}

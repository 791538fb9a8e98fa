//! Wait for the server's first message. It need not come soon: the original server says nothing to the first player.

use std::time::{Duration, Instant};

use zeitnot_net::Address;

use super::config::Timeouts;

/// Ends a line and a header of HTTP. Servers of the protocol ignore empty lines, and one that waits for the rest of an
/// HTTP request answers or closes.
pub(super) const EMPTY_LINES: &str = "\r\n\r";

/// Something to do while the server is silent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send [`EMPTY_LINES`].
    Probe,
    /// Say what may be wrong.
    Warn,
}

/// Steps of the wait that are left, the last one first.
#[derive(Debug)]
pub(super) struct FirstMessage {
    joined: Instant,
    limit: Duration,
    steps: Vec<(Step, Duration)>,
}

impl FirstMessage {
    /// Begins the wait. Over WebSocket the handshake was an answer already.
    pub(super) fn new(address: &Address, timeouts: &Timeouts, now: Instant) -> FirstMessage {
        let mut steps = vec![(Step::Warn, timeouts.join)];
        if !address.is_websocket() {
            steps.push((Step::Probe, timeouts.probe));
        }
        FirstMessage { joined: now, limit: timeouts.join, steps }
    }

    /// Returns when the next step is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.steps.last().and_then(|(_, wait)| self.joined.checked_add(*wait))
    }

    /// Returns the next step if it is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<Step> {
        self.due().filter(|due| now >= *due)?;
        self.steps.pop().map(|(step, _)| step)
    }

    /// Returns whether our `JOIN` has just been sent: a server that refuses it closes at once.
    pub(super) fn has_just_begun(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.joined) <= self.limit
    }

    /// Ends the wait.
    pub(super) fn has_come(&mut self) {
        self.steps.clear();
    }
}

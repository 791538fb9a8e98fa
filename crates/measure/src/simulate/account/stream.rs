//! State of the event stream between the server and the program.

use std::time::Duration;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Closed,
    Open,
    /// Open for us, but not for the server, which sends nothing.
    HalfOpen,
}

/// Event stream of the program.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) state: State,
    /// Number of the connection.
    pub(super) number: u32,
    pub(super) failures: u32,
    /// Last time that it was not open.
    pub(super) disturbed: Duration,
}

impl Stream {
    /// Returns whether the server sees us online.
    pub(super) fn is_seen(&self) -> bool {
        self.state == State::Open
    }

    /// Returns when events were lost last; never while none can come.
    pub(super) fn lost_events(&self) -> Duration {
        if self.is_seen() { self.disturbed } else { Duration::MAX }
    }
}

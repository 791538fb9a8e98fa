//! Activity of a bot: its running games and the measured lag, for those who watch over it.

use std::time::Duration;

use crate::{lag::Lags, load::Load};

/// Activity of a bot. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Activity {
    load: Load,
    lags: Lags,
}

impl Activity {
    pub(crate) fn new(load: Load, lags: Lags) -> Activity {
        Activity { load, lags }
    }

    /// Returns the number of running games.
    pub fn games(&self) -> usize {
        self.load.running()
    }

    /// Returns the longest time that is reserved for the network on a move, of all servers; `None`: nothing was measured.
    pub fn lag(&self) -> Option<Duration> {
        self.lags.longest()
    }
}

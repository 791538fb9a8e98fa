//! Report of messages that cannot be read.

use tracing::{debug, warn};

/// Number of warnings; a server that sends more nonsense must not fill a disk.
const MAX_WARNINGS: u32 = 10;

/// Counter of skipped messages of one connection.
#[derive(Debug, Default)]
pub(crate) struct Skipped(u32);

impl Skipped {
    /// Reports one: the first ones as warnings, the others for debugging only.
    pub(crate) fn report(&mut self, why: &str) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= MAX_WARNINGS {
            warn!("skipped a message of the server: {why:?}");
        } else {
            debug!("skipped a message of the server: {why:?}");
        }
    }
}

//! State of the shared cache's server, and the lines that the log gets of it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use tracing::{debug, info, warn};
use zeitnot_net::{Outage, OutageNews};

use super::connection::{Fault, Replies};
use crate::cache::Counts;

/// State of the server.
pub(super) struct Status {
    /// Name of the server in the log.
    server: String,
    /// Whether requests are welcome.
    is_up: Arc<AtomicBool>,
    counts: Arc<Counts>,
    outage: Outage,
    /// Whether the log has told that the server refuses us.
    refuses: bool,
    /// Whether the log has told that it does not take entries.
    is_full: bool,
}

impl Status {
    pub(super) fn new(server: String, is_up: Arc<AtomicBool>, counts: Arc<Counts>) -> Status {
        Status { server, is_up, counts, outage: Outage::default(), refuses: false, is_full: false }
    }

    /// Notes that the server answers.
    pub(super) fn up(&mut self) {
        let news = self.outage.note(&Ok::<_, ()>(()));
        self.is_up.store(true, Relaxed);
        self.refuses = false;
        match news {
            Some(OutageNews::Ends(_)) => info!("shared cache {}: connected again", self.server),
            _ => debug!("shared cache {}: connected", self.server),
        }
    }

    /// Notes that it does not. The first fault is reported, and where a later one is the user's to mend.
    pub(super) fn down(&mut self, fault: &Fault) {
        self.is_up.store(false, Relaxed);
        let news = self.outage.note(&Err::<(), _>(()));
        let refuses = matches!(fault, Fault::Login(_));
        if news == Some(OutageNews::Begins) || refuses && !self.refuses {
            warn!("shared cache {}: {fault}; playing without it until it answers", self.server);
        } else {
            debug!("shared cache {}: {fault}", self.server);
        }
        self.refuses = refuses;
    }

    /// Counts the entries that the server has taken. Reports once that it takes none: a full server stays full.
    pub(super) fn note_writes(&mut self, replies: &Replies) {
        self.counts.shared.stored.fetch_add(replies.stored, Relaxed);
        self.counts.shared.not_stored.fetch_add(replies.not_stored, Relaxed);
        if let Some(error) = replies.error.as_ref().filter(|_| !self.is_full) {
            self.is_full = true;
            warn!(
                "shared cache {}: the server does not take moves ({error}); it is asked for those that it has; if it \
                 is full, set its maxmemory-policy to allkeys-lru",
                self.server
            );
        }
    }
}

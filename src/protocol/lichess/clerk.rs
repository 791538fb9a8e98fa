//! Writes games down, one after the other: whoever brings one never waits.

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tracing::error;

use super::records::{Config, Record};
use crate::{game::Side, wire::lichess::GameFull};

/// Games that may wait; more come only from a disk that does not work.
const WAITING: usize = 64;

/// Where games are brought to be written down, if they are.
#[derive(Clone, Debug)]
pub(super) struct Clerk(Option<mpsc::Sender<Record>>);

impl Clerk {
    /// A clerk, and its work: it ends when all that was brought is written and nobody can bring more.
    pub fn start(config: Option<Config>) -> (Clerk, AbortOnDropHandle<()>) {
        let (desk, mut games) = mpsc::channel::<Record>(WAITING);
        let clerk = Clerk(config.is_some().then_some(desk));
        let work = async move {
            let Some(config) = config else { return };
            while let Some(record) = games.recv().await {
                record.keep(config.clone()).await;
            }
        };
        (clerk, AbortOnDropHandle::new(tokio::spawn(work)))
    }

    /// A record of this game, if one is wanted.
    pub fn begin(&self, full: &GameFull, side: Side) -> Option<Record> {
        self.0.as_ref().map(|_| Record::new(full.clone(), side))
    }

    /// Has a game written down that is over.
    pub fn keep(&self, record: Record) {
        if let Some(desk) = &self.0
            && desk.try_send(record).is_err()
        {
            error!("too many games wait to be written down; this one is not");
        }
    }
}

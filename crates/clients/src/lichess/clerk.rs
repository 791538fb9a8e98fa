//! Writes games down, one after the other: whoever brings one never waits.

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tracing::error;

use zeitnot_rules::Color;
use zeitnot_wire::lichess::GameFull;

use super::records::{Config, Record};

/// Games that may wait; more come only from a disk that does not work.
const WAITING: usize = 64;

/// How far a game has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// It goes on, but not here and now.
    Shelved,
    Over,
}

/// Where games are brought to be written down, if they are.
#[derive(Clone, Debug)]
pub(super) struct Clerk(Option<mpsc::Sender<(Record, Stage)>>);

impl Clerk {
    /// A clerk, and its work: it ends when all that was brought is written and nobody can bring more.
    pub fn start(config: Option<Config>) -> (Clerk, AbortOnDropHandle<()>) {
        let (desk, mut games) = mpsc::channel::<(Record, Stage)>(WAITING);
        let clerk = Clerk(config.is_some().then_some(desk));
        let work = async move {
            let Some(config) = config else { return };
            while let Some((record, stage)) = games.recv().await {
                match stage {
                    Stage::Shelved => record.shelve(config.clone()).await,
                    Stage::Over => record.keep(config.clone()).await,
                }
            }
        };
        (clerk, AbortOnDropHandle::new(tokio::spawn(work)))
    }

    /// A record of this game, if one is wanted.
    pub fn begin(&self, full: &GameFull, side: Color) -> Option<Record> {
        self.0.as_ref().map(|_| Record::new(full.clone(), side))
    }

    /// Has a game written down that is over.
    pub fn keep(&self, record: Record) {
        self.bring(record, Stage::Over);
    }

    /// Has what we thought in a game so far written down: it goes on later.
    pub fn shelve(&self, record: Record) {
        if record.has_thoughts() {
            self.bring(record, Stage::Shelved);
        }
    }

    fn bring(&self, record: Record, stage: Stage) {
        if let Some(desk) = &self.0
            && desk.try_send((record, stage)).is_err()
        {
            error!("too many games wait to be written down; this one is not");
        }
    }
}

//! Entries of a match: who plays, and what each move may cost.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinError;
use zeitnot_engine::{Config, ExternalEngine, OutOfMemory, syzygy::TablebaseError};
use zeitnot_external::Program;
use zeitnot_rules::TimeControl;

use zeitnot_referee::Allowance;

/// Player of a match.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub engine: EntryEngine,
    /// Cost of each of its moves.
    pub effort: Effort,
    /// A new process for each game.
    pub restart: bool,
}

/// Engine of an entry: ours, within this process, or an external one.
#[derive(Clone, Debug)]
pub enum EntryEngine {
    /// Our engine, and the time that it keeps in reserve on each move.
    Own {
        config: Config,
        overhead: Duration,
    },
    External(Arc<Program>),
}

impl EntryEngine {
    /// Default reserve of engines of ours, the same as under UCI.
    pub const OVERHEAD: Duration = Duration::from_millis(50);

    /// Ends the program, if it is one.
    pub fn close(&self) {
        if let EntryEngine::External(program) = self {
            program.close();
        }
    }
}

/// Cost of a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As much as the clock allows.
    Clock(TimeControl),
    Time(Duration),
    Nodes(u64),
    Depth(u16),
}

impl Effort {
    /// Thinking time by the referee's clock; without a time of its own, as long as an engine may hang.
    pub(crate) fn allowance(self, patience: Duration) -> Allowance {
        match self {
            Effort::Clock(time_control) => Allowance::Game(time_control),
            Effort::Time(time) => Allowance::Move(time),
            Effort::Nodes(_) | Effort::Depth(_) => Allowance::Move(patience),
        }
    }
}

/// Reason why a match cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    #[error("{0} cannot be started again: it {1}")]
    Lost(String, String),
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error(transparent)]
    Tables(#[from] TablebaseError),
    #[error("a game crashed, please report it: {0}")]
    Crashed(#[from] JoinError),
}

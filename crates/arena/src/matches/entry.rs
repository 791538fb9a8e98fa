//! Entries of a match: who plays, and what each move may cost.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinError;
use zeitnot_engine::{Config, OutOfMemory, external::Program, syzygy::TablebaseError};
use zeitnot_rules::TimeControl;

use crate::referee::Allowance;

/// Player of a match.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name in the score.
    pub name: String,
    /// The engine.
    pub engine: EntryEngine,
    /// Cost of each of its moves.
    pub effort: Effort,
    /// A new process for each game.
    pub restart: bool,
}

/// Engine of an entry.
#[derive(Clone, Debug)]
pub enum EntryEngine {
    /// Engine of ours, within this process.
    Own {
        /// Its configuration.
        config: Config,
        /// Time kept in reserve on each move.
        overhead: Duration,
    },
    /// External engine.
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
    /// A fixed time.
    Time(Duration),
    /// A fixed number of nodes, however busy the machine is.
    Nodes(u64),
    /// A fixed depth.
    Depth(u16),
}

impl Effort {
    /// Thinking time by the referee's clock; without a time of its own, as long as an engine may hang.
    pub(super) fn allowance(self, patience: Duration) -> Allowance {
        match self {
            Effort::Clock(time_control) => Allowance::Game(time_control),
            Effort::Time(time) => Allowance::Move(time),
            Effort::Nodes(_) | Effort::Depth(_) => Allowance::Move(patience),
        }
    }
}

/// Why a match cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// An engine cannot be started again.
    #[error("{0} cannot be started again: it {1}")]
    Lost(String, String),
    /// No memory for the table of an engine of ours.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// Invalid endgame tables of an engine of ours.
    #[error(transparent)]
    Tables(#[from] TablebaseError),
    /// A bug of ours.
    #[error("a game crashed, please report it: {0}")]
    Crashed(#[from] JoinError),
}

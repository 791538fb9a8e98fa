//! Search limits, and the flag that stops a search from outside.

use std::{
    num::{NonZeroU16, NonZeroUsize},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use zeitnot_rules::{ByColor, Packed};

/// Conditions that end a search. All of them hold at once; the first one reached wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Last iteration.
    pub depth: Option<u16>,
    /// Node count at which the search is aborted.
    pub nodes: Option<u64>,
    /// Ends the search once a mate in this many moves is found.
    pub mate: Option<u16>,
    /// Time at which the search is aborted. The caller sends the decision then, stopped or not.
    pub hard: Option<Instant>,
    /// For external engines, which manage their own time. Our engine follows its [`TimeManager`].
    ///
    /// [`TimeManager`]: crate::time::TimeManager
    pub clocks: Option<Clocks>,
    /// Fixed time for external engines. Nothing else stops them then, unless there is a hard limit too.
    pub move_time: Option<Duration>,
    /// Maximum number of threads, of those that the thinker has.
    pub threads: Option<NonZeroUsize>,
    /// Root moves to consider; empty for all legal moves.
    pub root_moves: Vec<Packed>,
    /// Root move to search first when nothing better is known.
    pub hint: Option<Packed>,
    /// Number of best moves to report, each with its variation; `None` for one. Only
    /// [`Search`](crate::search::Search) reports more than one.
    pub multipv: Option<NonZeroU16>,
}

/// Both clocks at one moment, less the network lag.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Time left.
    pub left: ByColor<Duration>,
    /// Added after each move.
    pub increment: Duration,
    /// Moves until the next time control, if there is one.
    pub moves_to_go: Option<u32>,
    /// When the clocks were read. The clock of the side to move runs from here on.
    pub read_at: Instant,
}

/// The search was told to stop; propagated by `?`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Stop request, seen by every thread of a search.
#[derive(Debug, Default)]
pub struct StopFlag {
    raised: AtomicBool,
    at: OnceLock<Instant>,
}

impl StopFlag {
    /// Raises the flag.
    pub fn stop(&self) {
        self.at.get_or_init(Instant::now);
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Returns when the flag was raised, if it was.
    pub(crate) fn raised_at(&self) -> Option<Instant> {
        self.at.get().copied()
    }
}

/// Raises a flag when dropped, so that a panic raises it too.
pub(crate) struct RaiseOnDrop<'f>(pub Option<&'f StopFlag>);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.stop();
        }
    }
}

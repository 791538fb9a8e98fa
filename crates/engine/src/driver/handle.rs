//! The caller's side of a search: the request, its events, and the handle.

use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
    time::Instant,
};

use zeitnot_rules::{GameHistory, Packed, Tactics};

use crate::{
    decision::{Best, Decision},
    limits::{Limits, StopFlag},
    thinker::{Progress, Report},
    time::{Budget, TimeManager},
};

/// Position to search, and its limits.
pub struct SearchRequest<G: Tactics> {
    /// The game so far; its last position is searched.
    pub game: GameHistory<G>,
    /// When to stop, apart from the soft limit.
    pub limits: Limits,
    /// The answer until the search finds a better one.
    pub fallback: Packed,
    /// When the time of `budget` began.
    pub started_at: Instant,
    /// Time for the move; `None` while pondering, when nobody has asked for one yet.
    pub budget: Option<Budget>,
}

/// Event for the observer of a search, on the thread of the search.
pub enum SearchEvent<'e, G: Tactics> {
    /// An iteration is finished, or one of its variations where several are asked for.
    Progress(&'e Progress<G>),
    /// The search has ended. This is the last event, and comes in every case.
    Ended(SearchEnd),
}

/// End of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The thinker returned.
    Finished,
    /// The thinker panicked. Its best move so far stands.
    Panicked,
    /// No thread could be had, or another search took its place before it began.
    NotStarted,
}

/// A search that runs or has run. Dropping it stops the search.
#[derive(Debug)]
pub struct SearchHandle {
    pub(super) best: Arc<Decision>,
    pub(super) stop: Arc<StopFlag>,
    pub(super) end: Arc<OnceLock<SearchEnd>>,
    pub(super) report: Arc<OnceLock<Report>>,
    pub(super) time: TimeManager,
}

impl SearchHandle {
    /// Returns the best move so far.
    pub fn best(&self) -> Best {
        self.best.read()
    }

    /// Returns how the search ended, if it has.
    pub fn end(&self) -> Option<SearchEnd> {
        self.end.get().copied()
    }

    /// Returns the cost of the search, once it is finished.
    pub fn report(&self) -> Option<Report> {
        self.report.get().copied()
    }

    /// Stops the search. It may go on for a moment.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Returns the flag that stops the search, for those who outlive the handle.
    pub fn stop_flag(&self) -> Arc<StopFlag> {
        self.stop.clone()
    }

    /// Sets the time for the move, counted from the start of the search. Breaks if it is used up already.
    pub fn set_budget(&self, budget: Budget, now: Instant) -> ControlFlow<()> {
        self.time.set_budget(budget, now)
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

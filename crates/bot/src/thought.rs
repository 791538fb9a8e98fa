//! One search under way, and what it has reported so far.

use std::{
    future::pending,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tokio::sync::watch;
use zeitnot_engine::{
    Best, Limits, Playable, Progress, Score,
    driver::{SearchEnd, SearchEvent, SearchHandle, SearchRequest, SearchThread},
    time::Budget,
};
use zeitnot_rules::{GameHistory, Packed};

use super::{Equipment, cache::Found};

/// A search that runs or has run. Dropping it stops the search.
pub(super) struct Thought<G: Playable> {
    /// The game whose last position is searched.
    pub line: GameHistory<G>,
    handle: SearchHandle,
    began: Instant,
    opinions: watch::Receiver<Option<Opinion<G>>>,
    /// How it ended, once that was reported.
    end: Option<SearchEnd>,
}

/// Result of an iteration.
#[derive(Clone, Debug)]
pub(super) struct Opinion<G: Playable> {
    pub score: Score,
    pub depth: u16,
    pub nodes: u64,
    pub time: Duration,
    /// Our move and the expected reply.
    pub expects: Option<(G::Move, G::Move)>,
}

/// News of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Opinion,
    End(SearchEnd),
}

impl<G: Playable> Thought<G> {
    /// Starts a search. `first` is the answer until a better move is found; without a budget the search goes on until
    /// it is [asked for](Thought::ask) or dropped.
    pub fn begin(
        thread: &mut SearchThread<G>,
        line: GameHistory<G>,
        limits: Limits,
        first: Packed,
        budget: Option<(Instant, Budget)>,
    ) -> Self {
        let began = budget.map_or_else(now, |(asked_at, _)| asked_at);
        let (opinion, opinions) = watch::channel(None);
        let request = SearchRequest {
            game: line.clone(),
            limits,
            fallback: first,
            started_at: began,
            budget: budget.map(|(_, budget)| budget),
        };
        let handle = thread.search(request, move |event| match event {
            SearchEvent::Progress(progress) => drop(opinion.send_replace(Some(Opinion::of(progress)))),
            // Only wakes the player: the handle knows how it ended.
            SearchEvent::Ended(_) => opinion.send_modify(|_| {}),
        });
        Thought { line, handle, began, opinions, end: None }
    }

    /// Returns the best move so far.
    pub fn best(&self) -> Best {
        self.handle.best()
    }

    /// Returns the result of the last iteration.
    pub fn opinion(&self) -> Option<Opinion<G>> {
        self.opinions.borrow().clone()
    }

    /// Returns whether its move can be played: not if it ended before its first iteration.
    pub fn is_of_use(&self) -> bool {
        self.end.is_none() || self.opinion().is_some()
    }

    /// Returns how it ended, if that was reported.
    pub fn end(&self) -> Option<SearchEnd> {
        self.end
    }

    /// Sets the budget, now that the move is requested; the time so far counts. Breaks if it is used up already.
    pub fn ask(&mut self, budget: Budget) -> ControlFlow<()> {
        let enough = self.handle.set_budget(budget, now());
        if self.end.is_some() { ControlFlow::Break(()) } else { enough }
    }

    /// Stores its result in the cache, and its speed in the load. `budget` is what it had.
    pub fn teach(&self, equipment: &Equipment, budget: Budget) {
        let Some(opinion) = self.opinion() else { return };
        equipment.load.searched(opinion.nodes, opinion.time);
        let elapsed = now().saturating_duration_since(self.began);
        // A search that finished early counts as if it had used its time; one that was stopped has done more than its
        // last iteration tells.
        let had = if self.end == Some(SearchEnd::Finished) { elapsed.max(budget.soft) } else { elapsed };
        let effort =
            opinion.nodes as f64 * (had.as_secs_f64() / opinion.time.as_secs_f64().max(1e-3)).max(1.0);
        let effort = effort as u64;
        let Best { mv, score, depth } = self.best();
        equipment.cache.keep(&self.line, Found { mv, score, depth, effort });
    }

    /// Waits for the next news; for ever after the end. Cancel safe.
    pub async fn hear(&mut self) -> Word {
        if self.end.is_some() {
            return pending().await;
        }
        // The sender is dropped after the end of the search.
        let _ = self.opinions.changed().await;
        self.end = self.handle.end();
        self.end.map_or(Word::Opinion, Word::End)
    }
}

impl<G: Playable> Opinion<G> {
    fn of(progress: &Progress<G>) -> Self {
        let expects = match progress.pv.as_slice() {
            [ours, theirs, ..] => Some((*ours, *theirs)),
            _ => None,
        };
        let Progress { score, depth, nodes, time, .. } = *progress;
        Opinion { score, depth, nodes, time, expects }
    }
}

/// The time by the clock of the runtime, which tests can stop.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

//! A search in progress, and what it has reported so far.

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
use zeitnot_rules::{GameHistory, Key, MoveText, Packed};

use crate::{
    cache::{CacheSlot, CachedMove},
    context::BotContext,
};

/// Moves of a variation that are shown.
const MAX_SHOWN: usize = 10;

/// Time for a search, and when it began to count.
#[derive(Copy, Clone)]
pub(crate) struct SearchBudget {
    pub started_at: Instant,
    pub budget: Budget,
}

/// A search that runs or has run. Dropping it stops the search.
pub(crate) struct ActiveSearch {
    /// Place of the searched position in the cache.
    slot: CacheSlot,
    /// Whether it considers some of the moves only.
    is_restricted: bool,
    handle: SearchHandle,
    started_at: Instant,
    results: watch::Receiver<Option<IterationResult>>,
    /// Set once [`ActiveSearch::next`] has returned it.
    end: Option<SearchEnd>,
}

#[derive(Clone, Debug)]
pub(crate) struct IterationResult {
    pub score: Score,
    pub depth: u16,
    pub nodes: u64,
    pub time: Duration,
    /// Principal variation, as far as it is shown.
    pub pv: Vec<MoveText>,
    /// Our move and the expected reply.
    pub expected: Option<(Packed, Packed)>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchUpdate {
    Iteration,
    Ended(SearchEnd),
}

impl ActiveSearch {
    /// Starts a search of the last position. `fallback` is the answer until a better move is found.
    pub(crate) fn start<G: Playable>(
        thread: &mut SearchThread<G>,
        game: GameHistory<G>,
        limits: Limits,
        fallback: Packed,
        SearchBudget { started_at, budget }: SearchBudget,
    ) -> Self {
        let slot = CacheSlot::of(&game);
        let root = game.now().clone();
        let is_restricted = !limits.root_moves.is_empty();
        let (sender, results) = watch::channel(None);
        let request = SearchRequest { game, limits, fallback, started_at, budget: Some(budget) };
        let handle = thread.search(request, move |event| match event {
            SearchEvent::Progress(progress) => {
                sender.send_replace(Some(IterationResult::new(&root, progress)));
            }
            // Only wakes the player: the handle knows how the search ended.
            SearchEvent::Ended(_) => sender.send_modify(|_| {}),
        });
        ActiveSearch { slot, is_restricted, handle, started_at, results, end: None }
    }

    pub(crate) fn key(&self) -> Key {
        self.slot.key()
    }

    pub(crate) fn best(&self) -> Best {
        self.handle.best()
    }

    pub(crate) fn result(&self) -> Option<IterationResult> {
        self.results.borrow().clone()
    }

    /// Returns whether its move can be played: not if it ended before its first iteration.
    pub(crate) fn has_move(&self) -> bool {
        self.end.is_none() || self.result().is_some()
    }

    /// Returns whether there is no move to play: the engine has failed, and nobody may play in its name.
    pub(crate) fn has_failed(&self) -> bool {
        self.best().mv == Packed::NONE
    }

    /// Returns how it ended, if that was reported.
    pub(crate) fn end(&self) -> Option<SearchEnd> {
        self.end
    }

    /// Sets the budget when a pondered move is requested, or our clock is changed; the time so far counts. Breaks if it
    /// is used up already.
    pub(crate) fn set_budget(&self, budget: Budget) -> ControlFlow<()> {
        let flow = self.handle.set_budget(budget, now());
        if self.end.is_some() { ControlFlow::Break(()) } else { flow }
    }

    /// Stores the result in the cache, and the speed in the load. `budget` is what the search had.
    pub(crate) fn store(&self, context: &BotContext, budget: Budget) {
        let Some(IterationResult { nodes, time, .. }) = self.result() else { return };
        if self.has_failed() {
            return;
        }
        context.load.record_speed(nodes, time);
        // The score of a restricted search is not the position's.
        if self.is_restricted {
            return;
        }
        let elapsed = now().saturating_duration_since(self.started_at);
        // A search that finished early counts as if it had used its time. One that was stopped has searched more nodes
        // than its last iteration reports.
        let used = if self.end == Some(SearchEnd::Finished) { elapsed.max(budget.soft) } else { elapsed };
        let effort = nodes as f64 * (used.as_secs_f64() / time.as_secs_f64().max(1e-3)).max(1.0);
        let Best { mv, score, depth } = self.best();
        context.cache.insert_at(&self.slot, CachedMove { mv, score, depth, effort: effort as u64 });
    }

    /// Waits for the next update; forever after the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> SearchUpdate {
        if self.end.is_some() {
            return pending().await;
        }
        // The sender is dropped after the end of the search.
        let _ = self.results.changed().await;
        self.end = self.handle.end();
        self.end.map_or(SearchUpdate::Iteration, SearchUpdate::Ended)
    }
}

impl IterationResult {
    fn new<G: Playable>(root: &G, progress: &Progress<G>) -> Self {
        let Progress { score, depth, nodes, time, .. } = *progress;
        let pv = shown(root, &progress.pv);
        IterationResult { score, depth, nodes, time, pv, expected: expected(root, &progress.pv) }
    }
}

/// The beginning of a variation as text.
fn shown<G: Playable>(root: &G, pv: &[G::Move]) -> Vec<MoveText> {
    let mut position = root.clone();
    let write = |&mv: &G::Move| {
        let text = position.write(mv);
        position.play(mv);
        text
    };
    pv.iter().take(MAX_SHOWN).map(write).collect()
}

fn expected<G: Playable>(root: &G, pv: &[G::Move]) -> Option<(Packed, Packed)> {
    let &[ours, reply, ..] = pv else { return None };
    let ours = root.pack(ours);
    let mut after = root.clone();
    after.play(root.unpack(ours)?);
    Some((ours, after.pack(reply)))
}

/// Returns the time by the clock of the runtime, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

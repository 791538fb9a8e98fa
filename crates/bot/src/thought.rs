//! One search under way: its slot, its pace, and what it has said so far.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{oneshot, watch},
};

use zeitnot_engine::time::{Budget, Pacer};
use zeitnot_engine::{
    Best, Decision, Limits, Playable, Progress, Report, Score, StopFlag,
    mind::{Mind, Order, Panicked},
};
use zeitnot_rules::{GameHistory, Packed};

use super::{Equipment, cache::Found};

/// A search that runs, or has run. Dropped, it is told to stop.
pub(super) struct Thought<G: Playable> {
    /// What is thought about.
    pub line: GameHistory<G>,
    best: Arc<Decision>,
    stop: Arc<StopFlag>,
    pacer: Pacer<G>,
    began: Instant,
    opinions: watch::Receiver<Option<Opinion<G>>>,
    done: oneshot::Receiver<Result<Report, Panicked>>,
    /// How it ended, if it has.
    end: Option<End>,
}

/// What a search thinks after an iteration.
#[derive(Clone, Debug)]
pub(super) struct Opinion<G: Playable> {
    pub score: Score,
    pub depth: u16,
    pub nodes: u64,
    pub time: Duration,
    /// Our move and the reply that is expected.
    pub expects: Option<(G::Move, G::Move)>,
}

/// How a search ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It had enough.
    Content,
    Panicked,
    /// No thread could be had for it.
    NeverBegan,
}

/// What a search has to say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Opinion,
    End(End),
}

impl<G: Playable> Drop for Thought<G> {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl<G: Playable> Thought<G> {
    /// Gives the order to think. `first` stands in the slot from the beginning; without a budget the
    /// search goes on until it is [asked for](Thought::ask) or dropped.
    pub fn begin(
        mind: &mut Mind<G>,
        line: GameHistory<G>,
        limits: Limits,
        first: Packed,
        budget: Option<(Instant, Budget)>,
    ) -> Self {
        let began = budget.map_or_else(now, |(asked_at, _)| asked_at);
        let pacer = Pacer::new(&line, began, budget.map(|(_, budget)| budget));
        let (best, stop) = (Arc::new(Decision::new(first)), Arc::new(StopFlag::default()));
        let (report, done) = oneshot::channel();
        let (opinion, opinions) = watch::channel(None);
        let pace = pacer.clone();
        mind.order(Order {
            line: line.clone(),
            limits,
            best: best.clone(),
            stop: stop.clone(),
            watch: Box::new(move |progress| {
                // Where nobody listens any more, the answer is out already.
                let _ = opinion.send(Some(Opinion::of(progress)));
                pace.hear(progress)
            }),
            done: Box::new(move |result| {
                let _ = report.send(result);
            }),
        });
        Thought { line, best, stop, pacer, began, opinions, done, end: None }
    }

    /// The move that stands in the slot.
    pub fn best(&self) -> Best {
        self.best.read()
    }

    /// What the search thinks, once an iteration is done.
    pub fn opinion(&self) -> Option<Opinion<G>> {
        self.opinions.borrow().clone()
    }

    /// Can its move be played? Not where it came to an end before it began.
    pub fn is_of_use(&self) -> bool {
        self.end.is_none() || self.opinion().is_some()
    }

    /// How it ended, if it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Now a move is asked for: what was thought before counts. Has there been thought enough already?
    pub fn ask(&mut self, budget: Budget) -> ControlFlow<()> {
        let enough = self.pacer.ask(budget, now());
        if self.end.is_some() { ControlFlow::Break(()) } else { enough }
    }

    /// What it has found goes into the cache, and how fast it was into the load. It had this budget.
    pub fn teach(&self, equipment: &Equipment, budget: Budget) {
        let Some(opinion) = self.opinion() else { return };
        equipment.load.searched(opinion.nodes, opinion.time);
        let elapsed = now().saturating_duration_since(self.began);
        // A search that was content with less has had all that its time would have bought; and one that was stopped
        // has had more than its last opinion tells.
        let had = if self.end == Some(End::Content) { elapsed.max(budget.soft) } else { elapsed };
        let effort =
            opinion.nodes as f64 * (had.as_secs_f64() / opinion.time.as_secs_f64().max(1e-3)).max(1.0);
        let effort = effort as u64;
        let Best { mv, score, depth } = self.best();
        equipment.cache.keep(&self.line, Found { mv, score, depth, effort });
    }

    /// The next thing it has to say; waits for ever when it has said all. Cancel safe.
    pub async fn hear(&mut self) -> Word {
        if self.end.is_some() {
            return std::future::pending().await;
        }
        select! {
            biased;
            report = &mut self.done => {
                let end = match report {
                    Ok(Ok(_)) => End::Content,
                    Ok(Err(Panicked)) => End::Panicked,
                    Err(_) => End::NeverBegan,
                };
                self.end = Some(end);
                Word::End(end)
            }
            Ok(()) = self.opinions.changed() => Word::Opinion,
        }
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

/// By the clock of the runtime, which tests can stop.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

//! A search on its way through the mailbox, and its run on the thread of the thinker.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

use zeitnot_rules::{GameHistory, Tactics};

use super::handle::{SearchEnd, SearchEvent, SearchHandle, SearchRequest};
use crate::{
    decision::Decision,
    limits::{Limits, StopFlag},
    thinker::{Progress, Report, Task, Thinker},
    time::{Iteration, TimeManager},
};

type Observe<G> = Box<dyn Fn(SearchEvent<'_, G>) + Send + Sync>;

pub(super) struct Job<G: Tactics> {
    game: GameHistory<G>,
    limits: Limits,
    best: Arc<Decision>,
    pub stop: Arc<StopFlag>,
    time: TimeManager,
    report: Arc<OnceLock<Report>>,
    observer: Observer<G>,
}

/// Observes a search; told of its end also when the search is dropped before it starts.
struct Observer<G: Tactics> {
    observe: Observe<G>,
    end: Arc<OnceLock<SearchEnd>>,
}

impl<G: Tactics> Observer<G> {
    fn ended(&self, end: SearchEnd) {
        if self.end.set(end).is_ok() {
            (self.observe)(SearchEvent::Ended(end));
        }
    }
}

impl<G: Tactics> Drop for Observer<G> {
    fn drop(&mut self) {
        self.ended(SearchEnd::NotStarted);
    }
}

impl<G: Tactics> Job<G> {
    /// Returns the job, and the handle of the caller.
    pub(super) fn new(request: SearchRequest<G>, observe: Observe<G>) -> (Job<G>, SearchHandle) {
        let SearchRequest { game, limits, fallback, started_at, budget } = request;
        let (best, stop) = (Arc::new(Decision::new(fallback)), Arc::new(StopFlag::default()));
        let (end, time) = (Arc::default(), TimeManager::new(started_at, budget));
        let report = Arc::<OnceLock<_>>::default();
        let handle = SearchHandle {
            best: best.clone(),
            stop: stop.clone(),
            end: Arc::clone(&end),
            report: report.clone(),
            time: time.clone(),
        };
        let observer = Observer { observe, end };
        (Job { game, limits, best, stop, time, report, observer }, handle)
    }

    /// Runs the search on this thread. After a panic the thinker must be replaced.
    pub(super) fn run(&self, thinker: &mut dyn Thinker<G>) -> SearchEnd {
        let watch = |progress: &Progress<G>| {
            (self.observer.observe)(SearchEvent::Progress(progress));
            // Time is managed for the move that will be played.
            match progress.multipv {
                1 => self.time.update(Iteration::new(&self.game, progress)),
                _ => ControlFlow::Continue(()),
            }
        };
        let Job { game, limits, best, stop, .. } = self;
        let task = Task { game, limits, best, stop, watch: &watch };
        match catch_unwind(AssertUnwindSafe(|| thinker.think(&task))) {
            Ok(report) => {
                self.report.get_or_init(|| report);
                SearchEnd::Finished
            }
            Err(_) => SearchEnd::Panicked,
        }
    }

    /// Tells the observer.
    pub(super) fn ended(self, end: SearchEnd) {
        self.observer.ended(end);
    }
}

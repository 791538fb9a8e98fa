//! Faults on purpose, set by the configuration or, while the server runs, by tests.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{
    answer::{Answer, Outcome, Refusal},
    config::{Faults, Silence},
};

#[derive(Clone, Debug)]
pub(super) struct FaultSwitch(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    active: watch::Sender<Active>,
    requests: AtomicU32,
    moves: AtomicU32,
}

#[derive(Clone, Debug)]
struct Active {
    faults: Arc<Faults>,
    since: Instant,
}

/// A counted request: faults strike every nth one.
#[derive(Copy, Clone, Debug)]
pub(super) struct Count(u32);

impl Count {
    pub(super) fn is_struck(self, every: Option<NonZeroU32>) -> bool {
        every.is_some_and(|every| self.0.is_multiple_of(every.get()))
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    Events,
    Game,
    Challenge,
}

impl FaultSwitch {
    pub(super) fn new(faults: Faults) -> FaultSwitch {
        let active = watch::Sender::new(Active { faults: Arc::new(faults), since: Instant::now() });
        FaultSwitch(Arc::new(Shared { active, requests: AtomicU32::new(0), moves: AtomicU32::new(0) }))
    }

    pub(super) fn now(&self) -> Arc<Faults> {
        self.0.active.borrow().faults.clone()
    }

    pub(super) fn count_request(&self) -> Count {
        Count(self.0.requests.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }

    pub(super) fn count_move(&self) -> Count {
        Count(self.0.moves.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }

    /// Replaces the faults, if the configuration allows it.
    pub(super) fn set(&self, faults: Faults) -> Outcome {
        faults.check().map_err(|why| Refusal::bad(&why))?;
        if !self.now().on_demand {
            return Err(Refusal::missing("Not found"));
        }
        tracing::warn!("Lichess: faults from now on: {faults:?}");
        let faults = Arc::new(Faults { on_demand: true, ..faults });
        self.0.active.send_replace(Active { faults, since: Instant::now() });
        Ok(Answer::done())
    }

    pub(super) fn stream(&self, kind: StreamKind) -> StreamFaults {
        StreamFaults { kind, opened: Instant::now(), active: self.0.active.subscribe(), lines: 0 }
    }
}

#[derive(Debug)]
pub(super) struct StreamFaults {
    kind: StreamKind,
    opened: Instant,
    active: watch::Receiver<Active>,
    lines: u32,
}

impl StreamFaults {
    /// Returns whether the stream is silent now, and when that changes, if it does.
    pub(super) fn silence(&self, now: Instant) -> (bool, Option<Instant>) {
        let Active { faults, since } = self.active.borrow().clone();
        let is_meant = match faults.silence {
            Silence::None => false,
            Silence::Events => self.kind == StreamKind::Events,
            Silence::Games => self.kind == StreamKind::Game,
            Silence::Both => true,
        };
        if !is_meant {
            return (false, None);
        }
        let begins = since.max(self.opened) + faults.silence_after;
        let ends = (faults.silence_for > Duration::ZERO).then(|| begins + faults.silence_for);
        match ends {
            _ if now < begins => (false, Some(begins)),
            Some(ends) if now >= ends => (false, None),
            ends => (true, ends),
        }
    }

    pub(super) async fn changed(&mut self) {
        if self.active.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// Counts a line, and returns whether it is cut in the middle and whether garbage precedes it.
    pub(super) fn next_line(&mut self) -> (bool, bool) {
        let faults = self.active.borrow().faults.clone();
        self.lines = self.lines.wrapping_add(1);
        (Count(self.lines).is_struck(faults.half_lines), faults.garbage)
    }
}

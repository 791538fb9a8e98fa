//! What goes wrong on purpose: the switch that the configuration sets first, and tests turn while the server runs.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};

use super::{
    answer::{Answer, Outcome, StreamKind},
    config::{Faults, Silence},
};

/// Known to all who do wrong.
#[derive(Clone, Debug)]
pub(super) struct FaultSwitch(Arc<watch::Sender<Active>>);

/// Faults, and since when.
#[derive(Clone, Debug)]
pub(super) struct Active {
    faults: Arc<Faults>,
    since: Instant,
}

impl FaultSwitch {
    pub(super) fn new(faults: Faults) -> FaultSwitch {
        FaultSwitch(Arc::new(watch::Sender::new(Active { faults: Arc::new(faults), since: Instant::now() })))
    }

    pub(super) fn now(&self) -> Arc<Faults> {
        self.0.borrow().faults.clone()
    }

    /// Others from now on, if the configuration allows it.
    pub(super) fn set(&self, faults: Faults) -> Outcome {
        if !self.now().on_demand {
            return Err(Answer::missing("Not found"));
        }
        tracing::warn!("Lichess: from now on on purpose: {faults:?}");
        let faults = Arc::new(Faults { on_demand: true, ..faults });
        self.0.send_replace(Active { faults, since: Instant::now() });
        Ok(Answer::done())
    }

    /// For a stream that is being opened.
    pub(super) fn of_stream(&self, kind: StreamKind) -> StreamFaults {
        StreamFaults { kind, opened: Instant::now(), active: self.0.subscribe(), lines: 0 }
    }
}

/// What goes wrong on one stream.
#[derive(Debug)]
pub(super) struct StreamFaults {
    kind: StreamKind,
    opened: Instant,
    active: watch::Receiver<Active>,
    lines: u32,
}

impl StreamFaults {
    /// Is the stream silent now, and when will that change, if it does?
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

    /// Waits until other faults are asked for.
    pub(super) async fn changed(&mut self) {
        if self.active.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// Counts a line: is it cut in the middle? And does garbage come before it?
    pub(super) fn of_line(&mut self) -> (bool, bool) {
        let faults = self.active.borrow().faults.clone();
        self.lines = self.lines.wrapping_add(1);
        (faults.half_lines.is_some_and(|every| self.lines.is_multiple_of(every.get())), faults.garbage)
    }
}

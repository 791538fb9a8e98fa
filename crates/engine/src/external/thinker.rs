//! An external engine in one game.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use zeitnot_rules::Tactics;

use super::{
    fault::Fault,
    program::Program,
    search::{POLL, Session, search},
};
use crate::thinker::{Report, Task, Thinker};

/// Time to answer after `stop`. Shorter than the time after which a search thread counts as hung.
const GRACE: Duration = Duration::from_millis(250);
/// Faults in a row after which our own engine takes over.
const MAX_FAULTS: u32 = 3;

/// An external engine in one game. Dropping it ends its process.
pub(crate) struct External<G: Tactics> {
    program: Arc<Program>,
    state: State<G>,
    /// Faults in a row.
    faults: u32,
    make_own: Box<dyn Fn() -> Box<dyn Thinker<G>> + Send>,
}

enum State<G: Tactics> {
    Ready(Box<Session>),
    Starting(Receiver<Result<Session, Fault>>),
    Replaced(Box<dyn Thinker<G>>),
}

impl<G: Tactics> Thinker<G> for External<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        loop {
            if let State::Replaced(own) = &mut self.state {
                return own.think(task);
            }
            let fault = match self.attempt(task) {
                Ok(report) => return report,
                Err(fault) => fault,
            };
            self.failed(&fault);
            if is_over(task) {
                return Report::default();
            }
        }
    }
}

fn is_over<G: Tactics>(task: &Task<'_, G>) -> bool {
    task.stop.is_raised() || task.limits.hard.is_some_and(|hard| hard <= Instant::now())
}

impl<G: Tactics> External<G> {
    /// Starts the process. After too many faults, the thinker of `make_own` takes over.
    pub(crate) fn new(program: Arc<Program>, make_own: Box<dyn Fn() -> Box<dyn Thinker<G>> + Send>) -> Self {
        let state = State::Starting(program.start_in_background());
        External { program, state, faults: 0, make_own }
    }

    fn failed(&mut self, fault: &Fault) {
        self.faults += 1;
        let engine = self.program.name();
        if self.faults < MAX_FAULTS {
            tracing::warn!("engine {engine} {fault}; starting it again");
            self.state = State::Starting(self.program.start_in_background());
        } else {
            tracing::error!("engine {engine} {fault}, and failed before: our own engine plays this game on");
            self.state = State::Replaced((self.make_own)());
        }
    }

    fn attempt(&mut self, task: &Task<'_, G>) -> Result<Report, Fault> {
        if let State::Starting(starting) = &self.state {
            match wait_for_start(starting, task)? {
                Some(session) => self.state = State::Ready(Box::new(session)),
                // The move in the slot must do; the engine may be ready for the next one.
                None => return Ok(Report::default()),
            }
        }
        let State::Ready(session) = &mut self.state else { return Ok(Report::default()) };
        let Some(variant) = self.program.variant(task.game.now().kind()) else {
            return Ok(Report::default());
        };
        let searched = search(variant, session, task, GRACE);
        match &searched {
            Ok(_) => self.faults = 0,
            Err(_) => session.engine.give_up(),
        }
        searched.map(|searched| searched.report)
    }

    #[cfg(test)]
    pub(crate) fn faults(&self) -> u32 {
        self.faults
    }
}

/// Waits for a process that is being started; `None` if the answer is wanted before.
fn wait_for_start<G: Tactics>(
    starting: &Receiver<Result<Session, Fault>>,
    task: &Task<'_, G>,
) -> Result<Option<Session>, Fault> {
    while !is_over(task) {
        match starting.recv_timeout(POLL) {
            Ok(session) => return session.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Ended),
        }
    }
    Ok(None)
}

//! An external engine in one game.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use zeitnot_engine::{Best, EngineFactory, MakeOwn, OutOfMemory, Report, Task, Thinker, ThinkerFor};
use zeitnot_rules::{Packed, Tactics};

use crate::{
    config::OnEngineFailure,
    fault::Fault,
    program::Program,
    search::{POLL, Reply, Session, search},
};

/// Time to answer after `stop`. Shorter than the time after which a search thread counts as hung.
const GRACE: Duration = Duration::from_millis(250);
/// One part in this many of the time for a move is waited for an engine that starts, where our own engine may have the
/// rest.
const START_SHARE: u32 = 4;
/// Faults in a row after which the engine is not started again.
const MAX_FAULTS: u32 = 3;

/// An external engine in one game. Dropping it ends its process.
pub(crate) struct External<G: Tactics> {
    program: Arc<Program>,
    state: State<G>,
    /// Faults in a row.
    faults: u32,
    make_own: MakeOwn<G>,
}

enum State<G: Tactics> {
    Ready(Box<Session>),
    Starting(Receiver<Result<Session, Fault>>),
    Replaced(Box<dyn Thinker<G>>),
    /// It has failed for good, and nobody may play in its name.
    Failed,
}

impl Program {
    /// Makes what makes its thinkers.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is none for the table of our own search.
    pub fn factory(self: Arc<Self>) -> Result<EngineFactory, OutOfMemory> {
        let limits = self.limits();
        EngineFactory::external(self, limits)
    }
}

impl<G: Tactics> ThinkerFor<G> for Program {
    fn thinker(self: Arc<Self>, make_own: MakeOwn<G>) -> Box<dyn Thinker<G>> {
        Box::new(External::new(self, make_own))
    }
}

impl<G: Tactics> Thinker<G> for External<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        loop {
            match &mut self.state {
                State::Replaced(own) => return own.think(task),
                State::Failed => {
                    task.best.publish(Best::unsearched(Packed::NONE));
                    return Report::default();
                }
                State::Starting(_) | State::Ready(_) => {}
            }
            let fault = match self.attempt(task) {
                Ok(report) => return report,
                Err(Fault::Unsupported) => return self.play_ourselves(task),
                Err(fault) => fault,
            };
            self.failed(&fault, task);
            let is_ours = self.own_plays() && fault.is_answer();
            if !matches!(self.state, State::Failed) && (is_over(task) || is_ours) {
                return self.play_ourselves(task);
            }
        }
    }
}

fn is_over<G: Tactics>(task: &Task<'_, G>) -> bool {
    task.stop.is_raised() || task.limits.hard.is_some_and(|hard| hard <= Instant::now())
}

impl<G: Tactics> External<G> {
    /// Starts the process. The thinker of `make_own` plays where the engine cannot, if the configuration allows it.
    pub(crate) fn new(program: Arc<Program>, make_own: MakeOwn<G>) -> Self {
        let state = State::Starting(program.start_in_background());
        External { program, state, faults: 0, make_own }
    }

    fn failed(&mut self, fault: &Fault, task: &Task<'_, G>) {
        self.faults += 1;
        let (engine, position, policy) =
            (self.program.name(), task.game.now().print(), self.program.on_failure());
        // One that is late to stop is not broken: the machine may be busy.
        if policy == OnEngineFailure::Resign && !matches!(fault, Fault::Deaf | Fault::Late) {
            tracing::error!("engine {engine} {fault} in {position}: it plays this game no further");
            self.state = State::Failed;
        } else if self.faults < MAX_FAULTS {
            let is_ours = self.own_plays() && fault.is_answer();
            let what = if is_ours { "our own search plays this move" } else { "asking it again" };
            tracing::warn!("engine {engine} {fault} in {position}: starting it again; {what}");
            self.state = State::Starting(self.program.start_in_background());
        } else if policy == OnEngineFailure::Own {
            tracing::error!(
                "engine {engine} {fault} in {position}, and failed before: our own engine plays this game on"
            );
            self.state = State::Replaced((self.make_own)());
        } else {
            tracing::error!(
                "engine {engine} {fault} in {position}, and failed before: it plays this game no further"
            );
            self.state = State::Failed;
        }
    }

    fn own_plays(&self) -> bool {
        self.program.on_failure() == OnEngineFailure::Own
    }

    fn attempt(&mut self, task: &Task<'_, G>) -> Result<Report, Fault> {
        if let State::Starting(starting) = &self.state {
            let share = if self.own_plays() { START_SHARE } else { 1 };
            match wait_for_start(starting, task, share)? {
                Some(session) => self.state = State::Ready(Box::new(session)),
                // The engine may be ready for the next move.
                None => return Ok(self.play_ourselves(task)),
            }
        }
        let State::Ready(session) = &mut self.state else { return Ok(Report::default()) };
        let Some(variant) = self.program.variant(task.game.now().kind()) else {
            return Err(Fault::Unsupported);
        };
        let limits = self.program.limits().apply(task.limits, Instant::now());
        let limited = Task { limits: &limits, ..*task };
        let answer = search(variant, session, &limited, GRACE).and_then(|searched| match searched.reply {
            Reply::NoMove if !task.game.now().moves().is_empty() => Err(Fault::NoMove),
            Reply::Resigns => Err(Fault::Resigns),
            Reply::Move | Reply::NoMove => Ok(searched.report),
        });
        match &answer {
            Ok(_) => self.faults = 0,
            Err(Fault::Unsupported) => {}
            Err(_) => session.give_up(),
        }
        answer
    }

    /// Searches one move with our own engine, if it may play, an answer is due and there is time for it: the move in the
    /// slot was chosen without a search.
    fn play_ourselves(&self, task: &Task<'_, G>) -> Report {
        let is_due = task.limits.hard.is_some() && !is_over(task);
        if is_due && self.own_plays() { (self.make_own)().think(task) } else { Report::default() }
    }

    #[cfg(test)]
    pub(crate) fn faults(&self) -> u32 {
        self.faults
    }
}

/// Waits for a process that is being started; `None` if it takes more than its `share` of the time for the answer, given
/// as a divisor.
fn wait_for_start<G: Tactics>(
    starting: &Receiver<Result<Session, Fault>>,
    task: &Task<'_, G>,
    share: u32,
) -> Result<Option<Session>, Fault> {
    let now = Instant::now();
    let until = task.limits.hard.map(|hard| now + hard.saturating_duration_since(now) / share);
    while !is_over(task) && until.is_none_or(|until| Instant::now() < until) {
        match starting.recv_timeout(POLL) {
            Ok(session) => return session.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Ended),
        }
    }
    Ok(None)
}

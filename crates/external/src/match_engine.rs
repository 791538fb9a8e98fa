//! An external engine in a match: there is no fallback, and faults are reported.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use zeitnot_engine::{Best, Report, Task};
use zeitnot_rules::Tactics;

use crate::{
    fault::Fault,
    program::Program,
    search::{Reply, Session, search},
};

/// Time to answer after `stop`, before the process is killed. The game is over then: this only tells whether the
/// same process can play the next one.
const GRACE: Duration = Duration::from_secs(1);

/// An external engine in a match. Plays game after game in one process, as long as there is no fault; dropping it
/// ends the process.
pub struct MatchEngine {
    program: Arc<Program>,
    session: Option<Box<Session>>,
}

/// Answer of an engine in a match.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer itself.
    pub reply: Reply,
    /// When it was read from the engine.
    pub read_at: Instant,
    /// Cost of the search, as told by the engine.
    pub report: Report,
    /// Result of the last iteration that is whole for certain: limits other than a depth cut the one after. `None` if
    /// there was only one.
    pub whole: Option<Best>,
}

impl MatchEngine {
    /// Creates the engine without starting a process.
    pub fn new(program: Arc<Program>) -> MatchEngine {
        MatchEngine { program, session: None }
    }

    /// Ends the process, if there is one, with `quit`.
    pub fn leave(&mut self) {
        self.session = None;
    }

    /// Prepares a running process for a new game, or starts one, and waits until it is ready.
    ///
    /// # Errors
    /// [`Fault`] if there is no process that answers.
    pub fn prepare(&mut self) -> Result<(), Fault> {
        if let Some(session) = &mut self.session {
            if session.new_game(Instant::now() + self.program.start_within()).is_ok() {
                return Ok(());
            }
            self.end();
        }
        self.session = Some(Box::new(self.program.start()?));
        Ok(())
    }

    /// Asks for a move, within the limits of the engine's configuration as well. A fault ends the process; the next
    /// game starts another one.
    ///
    /// # Errors
    /// [`Fault`] if the engine gives no legal move.
    pub fn think<G: Tactics>(&mut self, task: &Task<'_, G>) -> Result<Answer, Fault> {
        let session = self.session.as_mut().ok_or(Fault::Ended)?;
        let Some(variant) = self.program.variant(task.game.now().kind()) else {
            let report = Report::default();
            return Ok(Answer { reply: Reply::NoMove, read_at: Instant::now(), report, whole: None });
        };
        let limits = self.program.limits().apply(task.limits, Instant::now());
        match search(variant, session, &Task { limits: &limits, ..*task }, GRACE) {
            Ok(searched) => Ok(Answer {
                reply: searched.reply,
                read_at: searched.read_at,
                report: searched.report,
                whole: searched.whole,
            }),
            Err(fault) => {
                self.end();
                Err(fault)
            }
        }
    }

    fn end(&mut self) {
        if let Some(mut session) = self.session.take() {
            session.give_up();
        }
    }
}

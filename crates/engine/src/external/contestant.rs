//! An external engine in a match: nobody stands in for it, and what goes wrong is told.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Fault, Program,
    program::Session,
    thinker::{End, search},
};
use crate::{Playable, Report, Task};

/// After `stop` it has this long to answer, or is killed. A game is over then: this is only to see whether the same
/// process can play the next one.
const GRACE: Duration = Duration::from_secs(1);

/// An engine that plays game after game, in one process as long as that is sound. Dropped, it ends it.
pub struct Contestant {
    program: Arc<Program>,
    session: Option<Box<Session>>,
}

/// What an engine answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer itself.
    pub reply: Reply,
    /// When it was read from the engine.
    pub read_at: Instant,
    /// What it says that it has done for it.
    pub report: Report,
}

/// The kinds of answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The move that stands in the slot.
    Move,
    /// It says that there is none.
    NoMove,
    /// It gives up.
    Resigns,
}

impl Contestant {
    /// Nothing is started yet.
    pub fn new(program: Arc<Program>) -> Contestant {
        Contestant { program, session: None }
    }

    /// Ends its process, if there is one, with a goodbye.
    pub fn leave(&mut self) {
        self.session = None;
    }

    /// Is ready for a new game when this returns: a process that runs is told of it, else one is started.
    ///
    /// # Errors
    /// [`Fault`] where there is no process that answers.
    pub fn prepare(&mut self) -> Result<(), Fault> {
        if let Some(session) = &mut self.session {
            let Session { engine, dialect } = &mut **session;
            engine.forget();
            if dialect.new_game(engine, Instant::now() + self.program.start_within()).is_ok() {
                return Ok(());
            }
            self.end();
        }
        self.session = Some(Box::new(Program::started(&self.program)?));
        Ok(())
    }

    /// Asks for a move. At a fault its process is ended; the next game finds another one.
    ///
    /// # Errors
    /// [`Fault`] where there is no move to be had.
    pub fn think<G: Playable>(&mut self, task: &Task<'_, G>) -> Result<Answer, Fault> {
        let session = self.session.as_mut().ok_or(Fault::Ended)?;
        match search(&self.program, session, task, GRACE) {
            Ok(searched) => Ok(Answer {
                reply: match searched.end {
                    End::Move => Reply::Move,
                    End::NoMove => Reply::NoMove,
                    End::Resigned => Reply::Resigns,
                },
                read_at: session.engine.read_at(),
                report: searched.report,
            }),
            Err(fault) => {
                self.end();
                Err(fault)
            }
        }
    }

    /// Without a goodbye.
    fn end(&mut self) {
        if let Some(mut session) = self.session.take() {
            session.engine.give_up();
        }
    }
}

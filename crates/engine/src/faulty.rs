//! Thinkers with faults, to prove that a bad search costs strength and never the game. For tests and for
//! `zeitnot bench deadline`; no configuration can name them.

use std::{
    fmt,
    panic::resume_unwind,
    thread,
    time::{Duration, Instant},
};

use zeitnot_rules::Game;

use super::{Best, Report, Task, Thinker};

/// What is wrong with a thinker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It keeps a core busy for two seconds, and does not hear that it is to stop.
    Deaf,
    /// It panics.
    Panics,
    /// It stops when told to, and never publishes a move.
    Silent,
    /// It sleeps, and never wakes up.
    Hangs,
}

impl Fault {
    /// Every one.
    pub const ALL: [Fault; 4] = [Fault::Deaf, Fault::Panics, Fault::Silent, Fault::Hangs];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Deaf => "deaf",
            Fault::Panics => "panics",
            Fault::Silent => "silent",
            Fault::Hangs => "hangs",
        })
    }
}

/// How long a deaf one goes on.
const DEAF_FOR: Duration = Duration::from_secs(2);

/// A thinker with a fault.
pub struct Faulty(pub Fault);

impl<G: Game> Thinker<G> for Faulty {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        match self.0 {
            Fault::Deaf => {
                let end = Instant::now() + DEAF_FOR;
                while Instant::now() < end {
                    task.best.publish(Best { depth: 1, ..task.best.read() });
                }
            }
            // Unwinds as a panic does, without a report on stderr each time.
            Fault::Panics => resume_unwind(Box::new("on purpose")),
            Fault::Silent => {
                while !task.stop.is_raised() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            Fault::Hangs => loop {
                thread::park();
            },
        }
        Report::default()
    }
}

/// Plays the last of the legal moves: what it did can be told from what was done without it.
#[cfg(test)]
pub(super) struct LastMove;

#[cfg(test)]
impl<G: Game> Thinker<G> for LastMove {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let now = task.line.now();
        if let Some(&last) = now.moves().last() {
            task.best.publish(Best { mv: now.pack(last), depth: 1, ..task.best.read() });
        }
        Report::default()
    }
}

//! Deliberately broken thinkers, to prove that a bad search costs strength and never the game. For tests and
//! `zeitnot-measure deadline`; no configuration can name them.

use std::{
    fmt,
    panic::resume_unwind,
    thread,
    time::{Duration, Instant},
};

use zeitnot_rules::Game;

use crate::{
    decision::Best,
    thinker::{Report, Task, Thinker},
};

/// Fault of a thinker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Keeps a core busy for two seconds, and ignores the stop flag.
    Deaf,
    /// Panics.
    Panics,
    /// Stops when told to, but never publishes a move.
    Silent,
    /// Sleeps for ever.
    Hangs,
}

impl Fault {
    /// All faults.
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

/// Duration of [`Fault::Deaf`].
const DEAF_FOR: Duration = Duration::from_secs(2);

/// A thinker with a fault.
pub(crate) struct Faulty(pub Fault);

impl<G: Game> Thinker<G> for Faulty {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        match self.0 {
            Fault::Deaf => {
                let end = Instant::now() + DEAF_FOR;
                while Instant::now() < end {
                    task.best.publish(Best { depth: 1, ..task.best.read() });
                }
            }
            // Unwinds like a panic, without a report on stderr.
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

/// Plays the last legal move, which differs from the fallback move.
#[cfg(test)]
pub(crate) struct LastMove;

#[cfg(test)]
impl<G: Game> Thinker<G> for LastMove {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let now = task.game.now();
        if let Some(&last) = now.moves().last() {
            task.best.publish(Best { mv: now.pack(last), depth: 1, ..task.best.read() });
        }
        Report::default()
    }
}

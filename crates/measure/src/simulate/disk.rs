//! A disk that works, fails or hangs, under the database of a simulation.

use tokio::time::Instant;
use zeitnot_host::database::simulation::SimulatedDatabase;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Fine,
    Failing,
    Hanging,
}

/// Outcome of a look at what waits for the disk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Nothing waits.
    Nothing,
    Hangs,
    Written,
    Failed,
}

#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) database: SimulatedDatabase,
    state: State,
}

impl Disk {
    pub(crate) fn new() -> Disk {
        Disk { database: SimulatedDatabase::default(), state: State::Fine }
    }

    /// Gets into another state, or works again.
    pub(crate) fn change(&mut self, random: &mut fastrand::Rng) {
        self.state = match (self.state, random.bool()) {
            (State::Failing | State::Hanging, _) => State::Fine,
            (State::Fine, true) => State::Failing,
            (State::Fine, false) => State::Hanging,
        };
    }

    pub(crate) fn repair(&mut self) {
        self.state = State::Fine;
    }

    /// Lets the writer try to write, if something waits.
    pub(crate) fn attempt(&mut self, now: Instant) -> Attempt {
        match self.state {
            State::Hanging => Attempt::Hangs,
            _ if !self.database.take(now) => Attempt::Nothing,
            State::Fine => {
                self.database.write(now);
                Attempt::Written
            }
            State::Failing => {
                self.database.fail(now);
                Attempt::Failed
            }
        }
    }
}

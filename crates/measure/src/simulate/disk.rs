//! A disk that works, fails or hangs, under the database of a simulation.

use tokio::time::Instant;
use zeitnot_host::database::simulation::SimulatedDatabase;

use super::run::Run;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Fine,
    Failing,
    Hanging,
}

/// Outcome of an attempt to write what waits for the disk.
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

    /// Breaks a disk that works, and repairs another.
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

    /// Lets the writer try to write what waits, or not yet.
    pub(crate) fn attempt_at_random(&mut self, run: &mut Run) -> Attempt {
        if run.one_in(3) {
            return Attempt::Nothing;
        }
        let attempt = self.attempt(Instant::now());
        if matches!(attempt, Attempt::Written | Attempt::Failed) {
            run.note(format_args!("disk: {attempt:?}"));
        }
        attempt
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

//! Subject of the simulation: a state machine in a scripted world, with its laws and mutants.

use super::{
    history::{Broken, History},
    law::{Law, Mutant},
};

/// Simulated part of the program. A run depends on nothing but the seed and the mutant: no clock of the machine, no order of a
/// hash map, no shared state.
pub(crate) trait Subject {
    const NAME: &'static str;
    const LAWS: &'static [&'static Law];
    const MUTANTS: &'static [&'static Mutant];

    /// Runs one seed to its end.
    ///
    /// # Errors
    /// The first broken law.
    fn run(seed: u64, mutant: Option<&'static Mutant>, history: &mut History) -> Result<(), Broken>;
}

/// A subject in the list of subjects.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) laws: &'static [&'static Law],
    pub(crate) mutants: &'static [&'static Mutant],
    pub(crate) run: fn(u64, Option<&'static Mutant>, &mut History) -> Result<(), Broken>,
}

impl Entry {
    pub(crate) const fn of<S: Subject>() -> Entry {
        Entry { name: S::NAME, laws: S::LAWS, mutants: S::MUTANTS, run: S::run }
    }
}

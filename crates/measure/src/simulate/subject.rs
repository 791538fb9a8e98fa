//! Subject of the simulation: a state machine in a scripted world, with its laws.

use super::{
    law::{Law, Planted},
    run::{Checked, Run},
};

#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) laws: &'static [Law],
    /// Runs a seed up to the first law that is broken. The run depends on nothing but the seed and the mutant: no clock of
    /// the machine, no order of a hash map, no shared state.
    pub(crate) run: fn(&mut Run) -> Checked,
}

impl Subject {
    pub(crate) fn mutants(&self) -> impl Iterator<Item = Planted> {
        self.laws.iter().flat_map(|law| law.mutants.iter().map(move |mutant| Planted(Some((law, mutant)))))
    }

    /// Returns the laws with their mutants, as `docs/simulation.md` lists them.
    pub(crate) fn rows(&self) -> impl Iterator<Item = String> {
        self.laws.iter().map(|law| {
            let mutants = law.mutants.iter().map(|mutant| format!("`{}` ({})", mutant.name, mutant.text));
            let mutants = mutants.collect::<Vec<_>>().join("; ");
            format!("- `{}`: {}. Mutants: {mutants}.", law.name, law.text)
        })
    }
}

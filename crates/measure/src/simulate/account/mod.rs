//! The Lichess account in a scripted world.

use super::{
    history::{Broken, History},
    subject::{Law, Mutant, Subject},
};

pub(crate) struct Account;

impl Subject for Account {
    const NAME: &'static str = "account";
    const LAWS: &'static [&'static Law] = &[];
    const MUTANTS: &'static [&'static Mutant] = &[];

    fn run(_seed: u64, _mutant: Option<&'static Mutant>, _history: &mut History) -> Result<(), Broken> {
        Ok(())
    }
}

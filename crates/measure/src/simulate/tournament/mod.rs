//! A tournament in a scripted world: players who come, play, leave and return, an organiser, a disk, kills.

mod laws;
mod setup;
mod watch;
mod world;

use super::{
    history::{Broken, History},
    law::{Law, Mutant},
    subject::Subject,
    virtual_time::VirtualTime,
};
use world::World;

pub(crate) struct Tournament;

impl Subject for Tournament {
    const NAME: &'static str = "tournament";
    const LAWS: &'static [&'static Law] = laws::LAWS;
    const MUTANTS: &'static [&'static Mutant] = laws::MUTANTS;

    fn run(seed: u64, mutant: Option<&'static Mutant>, history: &mut History) -> Result<(), Broken> {
        let time = VirtualTime::new();
        let _entered = time.enter();
        match World::new(seed, mutant, &time, history) {
            Some(world) => world.run(),
            None => Ok(()),
        }
    }
}

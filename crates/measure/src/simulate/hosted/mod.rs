//! A hosted game with its referee in a scripted world: two players, a disk, a page, kills.

mod front;
mod laws;
mod watch;
mod world;

use super::{
    history::{Broken, History},
    law::{Law, Mutant},
    subject::Subject,
    virtual_time::VirtualTime,
};
use world::World;

pub(crate) struct Hosted;

impl Subject for Hosted {
    const NAME: &'static str = "hosted";
    const LAWS: &'static [&'static Law] = laws::LAWS;
    const MUTANTS: &'static [&'static Mutant] = laws::MUTANTS;

    fn run(seed: u64, mutant: Option<&'static Mutant>, history: &mut History) -> Result<(), Broken> {
        let time = VirtualTime::new();
        let _entered = time.enter();
        World::new(seed, mutant, &time, history).run()
    }
}

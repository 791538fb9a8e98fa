//! The Lichess account in a scripted world.
//!
//! The state machine is the program's own. [`world`] has the time and lets happen what [`plan`] draws from the seed:
//! [`players`] act on the model of Lichess in [`server`]; [`events`] and [`requests`] pass between it and the program,
//! with their faults; [`performer`] does what the state machine wants done, and [`tasks`] are the games it plays.
//! [`laws`] and [`mutants`] list what is checked, and what shows that it is.

use super::{
    history::{Broken, History},
    law::{Law, Mutant},
    subject::Subject,
};

mod checks;
mod events;
mod laws;
mod mutants;
pub(crate) mod outage;
mod owner;
mod performer;
mod plan;
mod players;
mod program;
mod requests;
mod server;
mod stream;
mod tasks;
mod world;

use world::World;

/// The Lichess account.
pub(crate) struct Account;

impl Subject for Account {
    const NAME: &'static str = "account";
    const LAWS: &'static [&'static Law] = laws::ALL;
    const MUTANTS: &'static [&'static Mutant] = mutants::ALL;

    fn run(seed: u64, mutant: Option<&'static Mutant>, history: &mut History) -> Result<(), Broken> {
        // Jitter of back-offs comes from the thread's generator.
        fastrand::seed(seed);
        World::new(seed, mutant, history).run()
    }
}

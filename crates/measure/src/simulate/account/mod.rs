//! The Lichess account in a scripted world.
//!
//! The state machine is the program's own. [`world`] has the time and the events that [`plan`] draws from the seed:
//! [`players`] act on the model of Lichess in [`server`]; [`events`] and [`requests`] pass between it and the program,
//! with their faults; [`performer`] does what the state machine wants done, and [`tasks`] are the games it plays.
//! [`laws`] lists what is checked, and [`mutants`] plants the faults that show that it is.

use super::{
    run::{Checked, Run},
    subject::Subject,
};

mod checks;
mod events;
mod laws;
mod mutants;
#[cfg(test)]
mod outage;
mod owner;
mod performer;
mod plan;
mod players;
mod program;
mod requests;
mod sent_requests;
mod server;
mod stream;
mod tasks;
mod world;

use plan::Plan;
use world::World;

pub(crate) const SUBJECT: Subject = Subject { name: "account", laws: laws::LAWS, run };

fn run(run: &mut Run) -> Checked {
    World::new(Plan::draw(run), run).run()
}

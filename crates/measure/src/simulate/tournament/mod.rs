//! A tournament in a scripted world: players who come, play, leave and return, an organiser, a disk, kills.

mod laws;
mod observer;
mod setup;
mod world;

use super::{
    run::{Checked, Run},
    subject::Subject,
    virtual_time::VirtualTime,
};
use world::World;

pub(crate) const SUBJECT: Subject = Subject { name: "tournament", laws: laws::LAWS, run };

fn run(run: &mut Run) -> Checked {
    let time = VirtualTime::new();
    let _entered = time.enter();
    World::new(run, &time).map_or(Ok(()), World::run)
}

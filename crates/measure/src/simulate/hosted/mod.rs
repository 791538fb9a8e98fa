//! A hosted game with its referee in a scripted world: two players, a disk, a page, kills.

mod front;
mod laws;
mod observer;
mod world;

use super::{
    run::{Checked, Run},
    subject::Subject,
    virtual_time::VirtualTime,
};
use world::World;

pub(crate) const SUBJECT: Subject = Subject { name: "hosted", laws: laws::LAWS, run };

fn run(run: &mut Run) -> Checked {
    let time = VirtualTime::new();
    let _entered = time.enter();
    World::new(run, &time).map_or(Ok(()), World::run)
}

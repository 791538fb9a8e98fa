//! The program as a service: what watches over it, and what it takes over while it runs.

mod idle;
mod metrics;
mod reload;
mod standstill;
mod systemd;

use std::net::SocketAddr;

use crate::support::{arena::TestArena, program::Program};

/// An arena where two players of ours meet again and again.
async fn arena() -> TestArena {
    TestArena::start("").await
}

/// The configuration of a player that moves at random, in the tournament of [`arena`].
fn player(address: SocketAddr, name: &str) -> String {
    format!(
        "[engine]\nkind = 'random'\n[cache]\nmemory_mib = 0\n[[server]]\nprotocol = 'contest'\n\
         address = 'tcp://{address}'\ntournament = 'class'\nplayer = '{name}'\n"
    )
}

/// A second player, for the first to meet.
fn opponent(arena: &TestArena) -> Program {
    Program::configured(arena.folder.path(), "opponent", &player(arena.tcp.unwrap(), "opponent"))
}

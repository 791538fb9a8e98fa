//! Class tournaments of the arena, over the contest protocol.

mod endings;
#[cfg(unix)]
mod engines;
mod extensions;
mod games;
mod hostile;
mod mistakes;
mod rejoin;
mod results;
#[cfg(feature = "postgres")]
mod shared_database;
mod shutdown;
mod spectators;
mod systems;
mod tournament;

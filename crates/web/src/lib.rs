//! The page's server: its API and sockets, its protection, the tables where people play; and what every server of the
//! program needs: ports, places for connections, rations of addresses.
//!
//! It shows the games and tournaments of the hub and of the database. The arena and the bot
//! pass in their own parts: routes, searches for people, the priority of threads.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod bot_page;
pub mod error;
pub mod guesses;
pub mod hosts;
pub mod http;
pub mod keyed;
pub mod page;
pub mod places;
pub mod play;
pub mod port;
pub mod side_thread;
pub mod status_server;

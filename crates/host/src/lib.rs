//! Hosting of games, whatever the front: what a game is, its record in the database and in files, and its way to those
//! who watch.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod database;
pub mod game_info;
pub mod hosted_game;
pub mod jobs;
pub mod live;
pub mod note;
pub mod origin;
pub mod panic_guard;
pub mod pgn;
pub mod schema;
pub mod store;
pub mod tag;

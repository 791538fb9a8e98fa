//! The program: its commands, its configuration file, its terminal. The crates in `crates/` do the work.

#![warn(unreachable_pub)]

pub mod cli;
pub mod scripted_lichess;

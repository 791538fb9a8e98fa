//! The program: its commands, its configuration file, its terminal. The crates in `crates/` do the work.

pub mod cli;
pub mod scripted_lichess;

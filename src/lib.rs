//! The program: its commands, its configuration file, its terminal. The crates in `crates/` do the work.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod cli;

//! The parts of the measurements and simulations that the tests use, too.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod relay;
pub mod results_check;
pub mod scripted_lichess;

//! The parts of the measurements that the tests of the clients use, too.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod relay;
pub mod scripted_lichess;

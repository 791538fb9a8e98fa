//! The parts of the measurements that the tests of the clients use, too.

pub mod scripted_lichess;

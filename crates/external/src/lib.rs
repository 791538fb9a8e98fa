//! External engines as thinkers: programs that speak [UCI or UBGI](uci), the [xboard protocol](xboard)
//! or [lines of text](lines), or exchange [files].
//!
//! A [`Program`] is one that was started and tested once. Each game has a process of its own, from its start to its
//! end, in a process group that is killed with it. Nothing that the process says is trusted: lines are bounded, an
//! illegal move is no move, and every wait ends. Its best move so far stands in the decision slot, as with our own
//! searches. A process that dies, hangs or talks nonsense is started again and asked again with the time that is
//! left. After several faults in a row the game is left, or our own engine plays the rest of it, as
//! [`OnEngineFailure`] says.

#![allow(missing_docs)] // only the program uses it, and most names say what they are

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod config;
mod connection;
mod fault;
mod file_engine;
pub mod files;
mod lines;
mod match_engine;
pub mod process;
mod program;
mod protocol;
mod search;
mod thinker;
mod uci;
mod xboard;

#[cfg(test)]
mod tests;

pub use config::{Config, Named, OnEngineFailure, Protocol, Value};
pub use fault::Fault;
pub use match_engine::{Answer, MatchEngine};
pub use program::{OpenError, Opened, Program};
pub use search::Reply;

//! The engine: from a game and limits to better and better moves. No tokio, no sockets.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod bench;
pub mod book;
mod built_in;
mod config;
mod decision;
pub mod driver;
pub mod eval;
mod external_engine;
mod factory;
mod fallback;
mod faulty;
mod huge_pages;
mod limited;
mod limits;
pub mod lines;
mod mcts;
pub mod memory;
pub mod net;
pub mod priority;
pub mod random;
mod ratings;
mod repetition;
mod scheduler;
pub mod score;
pub mod search;
mod spawner;
mod strength;
pub mod syzygy;
pub mod textbook;
mod thinker;
pub mod time;
pub mod transposition_table;
pub mod uci;
pub mod wdl;

pub use built_in::{BuiltIn, UnknownBuiltIn};
pub use config::{Config, Kind, TableScope, UnknownKind};
pub use decision::{Best, Decision};
pub use eval::{EngineGame, Evaluator};
pub use external_engine::{ExternalEngine, MakeOwn, ThinkerFor};
pub use factory::{EngineFactory, PlayVisitor, Playable, cores, with_game};
pub use faulty::Fault;
pub use limited::MoveLimits;
pub use limits::{Clocks, Limits, StopFlag, Stopped};
pub use memory::OutOfMemory;
pub use ratings::{MEASURED, Rating};
pub use score::Score;
pub use strength::{Elo, Level, NoElo};
pub use thinker::{Progress, Report, Task, Thinker, think_now, think_watched};
pub use transposition_table::TranspositionTable;

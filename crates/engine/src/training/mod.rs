//! How the engine learns: positions of games against itself, and the weights that explain their results best.
//!
//! [`SelfPlay`] plays games and keeps their quiet positions as [`Record`]s, [`Store`] is the file that they go
//! to. [`Dataset`] reads them as the evaluation sees them, [`tune`] finds the weights, [`rust`] writes them down.
//! `docs/data.md` says how the file is read, and by whom else.

mod dataset;
mod print;
mod record;
mod selfplay;
mod store;
mod tuner;

pub use dataset::{Dataset, Goal, Weights, plain, steepness};
pub use print::rust;
pub use record::{BadRecord, Judgement, Record};
pub use selfplay::{Effort, SelfPlay};
pub use store::{Store, StoreError, read};
pub use tuner::{Epoch, Settings, tune};

//! How the engine learns: positions of games against itself, and the weights that explain their results best.
//!
//! [`SelfPlay`] plays games and keeps their quiet positions as [`Record`]s, [`RecordFile`] is the file that they go
//! to. [`Dataset`] reads them as the evaluation sees them, [`tune`] finds the weights, [`format_weights`] writes them down.
//! `docs/data.md` says how the file is read, and by whom else.

mod dataset;
mod record;
mod record_file;
mod selfplay;
mod tuner;
mod weights_file;

pub use dataset::{Dataset, Objective, Weights, initial_weights, steepness};
pub use record::{InvalidRecord, Label, Record};
pub use record_file::{RecordFile, RecordFileError, read_records};
pub use selfplay::{NodeLimits, SelfPlay};
pub use tuner::{Epoch, TunerSettings, tune};
pub use weights_file::format_weights;

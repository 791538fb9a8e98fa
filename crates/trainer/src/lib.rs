//! The trainer of the net for chess: from games to a file that the engine reads.
//!
//! [`Corpus`] holds the games, [`Run`] learns from them batch by batch, [`Checkpoint`] is the state of a run between
//! two batches, and [`Parameters::quantised`] the net. See `docs/net.md`.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod checkpoint;
mod corpus;
mod error;
mod feed;
mod gradient;
mod layers;
mod optimizer;
mod parameters;
mod position;
mod rounding;
mod run;
mod settings;
mod simd;
mod small;
mod state;
mod teacher;
#[cfg(test)]
mod tests;
mod threads;
mod workers;

pub use checkpoint::Checkpoint;
pub use corpus::Corpus;
pub use error::TrainError;
pub use parameters::Parameters;
pub use position::TrainingPosition;
pub use rounding::Rounding;
pub use run::{Report, Run};
pub use settings::Settings;
pub use small::{SmallReport, SmallRun, SmallSettings};
pub use teacher::{Teacher, TeacherError};

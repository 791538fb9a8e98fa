//! Data generation and training: from games that the engine plays against itself to its nets and weights.
//!
//! [`games`] plays, stores and reads them. For the net of chess, [`Corpus`] holds them, [`Run`] learns from them batch by
//! batch, [`Checkpoint`] is the state of a run between two batches, and [`Parameters::quantised`] the net. [`SmallRun`]
//! trains the nets of the other games. See `docs/data.md` and `docs/net.md`. [`tuning`] fits the weights of the
//! evaluation by hand.

#![allow(missing_docs)] // only the program uses it, and most names say what they are

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod checkpoint;
mod corpus;
mod error;
mod example;
mod feed;
pub mod games;
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
mod small_examples;
#[cfg(test)]
mod tests;
mod threads;
pub mod tuning;
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
pub use small_examples::SmallExamples;

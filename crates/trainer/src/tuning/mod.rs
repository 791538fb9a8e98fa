//! Texel tuning of the evaluation of chess by hand.
//!
//! A [`Dataset`] traces the quiet positions of games, [`tune`] fits the weights, and [`format_weights`] writes them as
//! Rust. See `docs/data.md`.
//!
//! Source: Chess Programming Wiki, "Texel's Tuning Method".

mod dataset;
mod tuner;
mod weights_file;

pub use dataset::{Dataset, Objective, Weights, initial_weights, steepness};
pub use tuner::{Epoch, TunerSettings, tune};
pub use weights_file::format_weights;

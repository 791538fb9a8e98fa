//! Networks that evaluate chess: their shape, their file, and their evaluation in integers.
//!
//! A network has two layers, as in other engines' efficiently updatable networks (NNUE). Each side sees the
//! pieces as [`FEATURES`] inputs of zero or one, [`feature_index`]; their weights add up to the hidden layer of that
//! side. The output layer joins both hidden layers, that of the side to move first, with weights that depend on
//! the number of pieces. `docs/net.md` describes the architecture and the file.
//!
//! Sources: Chess Programming Wiki, "NNUE"; Stockfish's documentation of its trainer.

mod accumulators;
mod block;
mod eval_file;
mod evaluation;
mod features;
mod file;
mod refresh_table;
mod weights;

pub use eval_file::EvalFile;
pub use features::{FEATURES, feature_index};
pub use file::{NetError, NetFault};
pub use weights::{BUCKETS, NetShape, Weights, output_bucket};

pub use accumulators::{NetEvaluator, Ply};
pub use evaluation::Net;

/// Quantisation of the hidden layer: this value stands for 1.
pub const QA: i32 = 255;
/// Quantisation of the output layers' weights where a net names none of its own: this value stands for 1.
pub const QB: u16 = 64;
/// Centipawns of an output of 1.
pub const SCALE: i32 = 400;
/// Finest quantisation of the output layers' weights.
pub const MAX_OUTPUT_UNIT: u16 = 1024;
/// Largest magnitude of a quantised weight of the output layer: its product with a hidden value fits 16 bits.
pub const MAX_OUTPUT_WEIGHT: i16 = 127;

//! Weights of a network in the order of its file, for trainers and tests.

use super::{FEATURES, MAX_OUTPUT_WEIGHT};

/// Number of output layers; [`output_bucket`] chooses one.
pub const BUCKETS: usize = 8;
/// Number of pieces for which the output layer is the same.
const PIECES_OF_A_BUCKET: usize = 4;

/// Number of the output layer for positions with as many pieces, kings included.
pub fn output_bucket(pieces: usize) -> usize {
    (pieces.saturating_sub(2) / PIECES_OF_A_BUCKET).min(BUCKETS - 1)
}

/// Size of a network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NetShape {
    hidden: usize,
}

impl NetShape {
    /// The hidden layer is a multiple of this.
    pub const STEP: usize = 32;
    /// Largest hidden layer.
    pub const MAX_HIDDEN: usize = 1024;

    /// A network with so many values in the hidden layer of each side; `None` unless it is a multiple of
    /// [`NetShape::STEP`] from there to [`NetShape::MAX_HIDDEN`].
    pub fn new(hidden: usize) -> Option<NetShape> {
        let fits = (Self::STEP..=Self::MAX_HIDDEN).contains(&hidden) && hidden.is_multiple_of(Self::STEP);
        fits.then_some(NetShape { hidden })
    }

    /// Values in the hidden layer of each side.
    pub fn hidden(self) -> usize {
        self.hidden
    }

    /// Number of weights from the inputs to a hidden layer.
    pub fn feature_weights(self) -> usize {
        FEATURES * self.hidden
    }

    /// Number of weights of all output layers.
    pub fn output_weights(self) -> usize {
        BUCKETS * 2 * self.hidden
    }
}

/// Quantised weights of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Size of the network.
    pub shape: NetShape,
    /// Weights of each input in turn, in parts of [`QA`](super::QA).
    pub features: Vec<i16>,
    /// Bias of the hidden layer, in parts of [`QA`](super::QA).
    pub feature_bias: Vec<i16>,
    /// Weights of each output layer in turn, those of the side to move first, in parts of [`QB`](super::QB).
    pub output: Vec<i16>,
    /// Biases of the output layers, in parts of [`QA`](super::QA) · [`QB`](super::QB).
    pub output_bias: [i32; BUCKETS],
}

impl Weights {
    /// Weights that are all zero.
    pub fn zero(shape: NetShape) -> Weights {
        Weights {
            shape,
            features: vec![0; shape.feature_weights()],
            feature_bias: vec![0; shape.hidden],
            output: vec![0; shape.output_weights()],
            output_bias: [0; BUCKETS],
        }
    }

    /// Random weights of plausible size, for tests and measurements.
    pub fn random(shape: NetShape, seed: u64) -> Weights {
        const MAX_FEATURE_WEIGHT: i16 = 40;
        const MAX_FEATURE_BIAS: i16 = 120;
        const MAX_OUTPUT_BIAS: i32 = 4_000;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut fill = |values: &mut [i16], most: i16| values.fill_with(|| rng.i16(-most..=most));
        let mut weights = Weights::zero(shape);
        fill(&mut weights.features, MAX_FEATURE_WEIGHT);
        fill(&mut weights.feature_bias, MAX_FEATURE_BIAS);
        fill(&mut weights.output, MAX_OUTPUT_WEIGHT);
        weights.output_bias.fill_with(|| rng.i32(-MAX_OUTPUT_BIAS..=MAX_OUTPUT_BIAS));
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_steps_of_32() {
        for hidden in [0, 1, 31, 33, 48, 1056, usize::MAX] {
            assert_eq!(NetShape::new(hidden), None, "{hidden}");
        }
        assert!(
            [32, 64, 96, 1024].into_iter().all(|hidden| NetShape::new(hidden).unwrap().hidden() == hidden)
        );
    }

    #[test]
    fn every_number_of_pieces_has_an_output_layer() {
        let buckets = [0, 1, 2, 5, 6, 29, 30, 32, 64].map(output_bucket);
        assert_eq!(buckets, [0, 0, 0, 0, 1, 6, 7, 7, 7]);
    }
}

//! Weights of a network in the order of its file, for trainers and tests.

use super::{FEATURES, MAX_OUTPUT_WEIGHT, QB};

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
    /// Parts of which the weights of the output layers are, called QB.
    pub output_unit: u16,
    /// Weights of each output layer in turn, those of the side to move first, in parts of QB.
    pub output: Vec<i16>,
    /// Biases of the output layers, in parts of [`QA`](super::QA) · QB.
    pub output_bias: [i32; BUCKETS],
}

impl Weights {
    /// Weights that are all zero, those of the output layers in parts of [`QB`].
    pub fn zero(shape: NetShape) -> Weights {
        Weights {
            shape,
            features: vec![0; shape.feature_weights()],
            feature_bias: vec![0; shape.hidden],
            output_unit: QB,
            output: vec![0; shape.output_weights()],
            output_bias: [0; BUCKETS],
        }
    }

    /// Weights that count material, about a hundred centipawns for each pawn; for tests, and to be read.
    ///
    /// All values of a hidden layer are 128 plus the lead of its side, three for each pawn. The output layer takes the
    /// squares of the other side's from those of the side to move, which is 512 times the lead of that one.
    pub fn material() -> Weights {
        const HIDDEN: usize = NetShape::STEP;
        const PAWN: i16 = 3;
        const OUTPUT: i16 = 21;
        let mut weights = Weights::zero(NetShape { hidden: HIDDEN });
        weights.feature_bias.fill(128);
        for (kind, pawns) in [1, 3, 3, 5, 9, 0].into_iter().enumerate() {
            let inputs = |side: usize| (side * 6 + kind) * 64 * HIDDEN..(side * 6 + kind + 1) * 64 * HIDDEN;
            weights.features[inputs(0)].fill(PAWN * pawns);
            weights.features[inputs(1)].fill(-PAWN * pawns);
        }
        for row in weights.output.chunks_exact_mut(2 * HIDDEN) {
            row[..HIDDEN].fill(OUTPUT);
            row[HIDDEN..].fill(-OUTPUT);
        }
        weights
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
    use zeitnot_rules::{Game, chess::Chess};

    use super::*;
    use crate::net::Net;

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
    fn a_net_can_count_material() {
        let net = Net::new(&Weights::material()).unwrap();
        let score = |fen: &str| {
            let position = Chess::parse(fen).unwrap();
            net.evaluate(position.board(), position.turn())
        };
        assert_eq!(score(&Chess::start().print()), 0);
        for (pieces, pawns) in [("P", 1), ("N", 3), ("BB", 6), ("R", 5), ("QQ", 18)] {
            let told = score(
                &format!("4k3/pp6/8/8/8/{pieces}7/PP6/4K3 w - - 0 1")
                    .replace("BB7", "BB6")
                    .replace("QQ7", "QQ6"),
            );
            assert!((told - 99 * pawns).abs() <= pawns, "{pieces}: {told}");
        }
    }

    #[test]
    fn every_number_of_pieces_has_an_output_layer() {
        let buckets = [0, 1, 2, 5, 6, 29, 30, 32, 64].map(output_bucket);
        assert_eq!(buckets, [0, 0, 0, 0, 1, 6, 7, 7, 7]);
    }
}

//! A network in memory, and its evaluation of a position from scratch.
//!
//! The evaluation from scratch is the reference for [`accumulators`](super::accumulators), in plain code.

use std::{fmt, path::Path};

use shakmaty::{Board, Color};

use super::{
    BUCKETS, NetShape, QA, SCALE,
    block::{self, Block},
    features::View,
    file::{NetError, NetFault},
    weights::{Weights, output_bucket},
};

/// Largest evaluation in centipawns.
const MAX_EVALUATION: i64 = 20_000;

/// A network that is ready to evaluate.
#[derive(Clone, PartialEq, Eq)]
pub struct Net {
    shape: NetShape,
    /// Weights of each input in turn.
    features: Vec<Block>,
    feature_bias: Vec<Block>,
    /// Weights of each output layer in turn.
    output: Vec<Block>,
    output_bias: [i32; BUCKETS],
    /// Parts of which the weights of the output layers are.
    output_unit: i64,
    checksum: u64,
}

impl fmt::Debug for Net {
    /// Not the weights, which are too many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Net").field("shape", &self.shape).field("checksum", &self.checksum).finish()
    }
}

impl Net {
    /// Prepares these weights.
    ///
    /// # Errors
    /// [`NetFault`] if they are not those of a valid file.
    pub fn new(weights: &Weights) -> Result<Net, NetFault> {
        weights.check()?;
        Ok(Net {
            shape: weights.shape,
            features: Block::of(&weights.features),
            feature_bias: Block::of(&weights.feature_bias),
            output: Block::of(&weights.output),
            output_bias: weights.output_bias,
            output_unit: weights.output_unit.into(),
            checksum: weights.checksum(),
        })
    }

    /// Reads the network in a file.
    ///
    /// # Errors
    /// [`NetError`] if it cannot be read or is not valid.
    pub fn open(path: &Path) -> Result<Net, NetError> {
        Net::new(&Weights::open(path)?).map_err(|fault| NetError { path: path.to_owned(), fault })
    }

    /// Size of the network.
    pub fn shape(&self) -> NetShape {
        self.shape
    }

    /// Checksum of its weights.
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Evaluates a position from scratch, in centipawns for the side to move.
    ///
    /// Sums of 16 and of 32 bits wrap: no trained network reaches their bounds, and any other evaluates the same
    /// on every machine.
    pub fn evaluate(&self, board: &Board, turn: Color) -> i32 {
        let bucket = output_bucket(board.occupied().count());
        let weights: &[i16] = bytemuck::cast_slice(self.output_row(bucket));
        let (ours, theirs) = (self.hidden_layer(board, turn), self.hidden_layer(board, !turn));
        let hidden = ours.into_iter().chain(theirs);
        let products = hidden.zip(weights).map(|(value, &weight)| {
            let value = i32::from(value).clamp(0, QA);
            value * value * i32::from(weight)
        });
        self.centipawns(products.fold(0, i32::wrapping_add), bucket)
    }

    /// The hidden layer of a side, without its activation.
    fn hidden_layer(&self, board: &Board, color: Color) -> Vec<i16> {
        let mut sums = bytemuck::cast_slice::<_, i16>(&self.feature_bias).to_vec();
        let Some(king) = board.king_of(color) else { return sums };
        let view = View::new(color, king);
        for (square, piece) in board {
            let column: &[i16] = bytemuck::cast_slice(self.column(view.index(piece, square)));
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
        }
        sums
    }

    /// Evaluates by the hidden layers of the side to move and of the other, as [`Net::evaluate`] does.
    pub(super) fn evaluate_layers(&self, ours: &[Block], theirs: &[Block], pieces: usize) -> i32 {
        let bucket = output_bucket(pieces);
        let (to_move, other) = self.output_row(bucket).split_at(self.blocks());
        let sum = block::dot(ours, to_move).wrapping_add(block::dot(theirs, other));
        self.centipawns(sum, bucket)
    }

    /// Number of blocks of a hidden layer.
    pub(super) fn blocks(&self) -> usize {
        self.feature_bias.len()
    }

    /// Hidden layer of an empty board.
    pub(super) fn bias(&self) -> &[Block] {
        &self.feature_bias
    }

    /// Weights of an input.
    pub(super) fn column(&self, input: usize) -> &[Block] {
        &self.features[input * self.blocks()..][..self.blocks()]
    }

    /// Scales the sum of an output layer, which is in parts of QA · QA · QB, with its bias, in parts of QA · QB.
    fn centipawns(&self, sum: i32, bucket: usize) -> i32 {
        let output = i64::from(sum / QA) + i64::from(self.output_bias[bucket]);
        let centipawns = output * i64::from(SCALE) / (i64::from(QA) * self.output_unit);
        centipawns.clamp(-MAX_EVALUATION, MAX_EVALUATION) as i32
    }

    fn output_row(&self, bucket: usize) -> &[Block] {
        let row = 2 * self.blocks();
        &self.output[bucket * row..][..row]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{EnPassantMode, Position, Role, Square};

    use super::*;
    use crate::net::{FEATURES, MAX_OUTPUT_UNIT, feature_index};
    use zeitnot_rules::{Game, chess::Chess};

    fn net(hidden: usize, seed: u64) -> Net {
        Net::new(&Weights::random(NetShape::new(hidden).unwrap(), seed)).unwrap()
    }

    /// The evaluation as a trainer computes it.
    fn in_floating_point(weights: &Weights, position: &Chess) -> f64 {
        let (board, hidden) = (position.board(), weights.shape.hidden());
        let layer = |color: Color| -> Vec<f64> {
            let king = board.king_of(color).unwrap();
            let inputs: Vec<_> =
                board.into_iter().map(|(square, piece)| feature_index(color, king, piece, square)).collect();
            let sum = |at: usize| -> i32 {
                let bias = i32::from(weights.feature_bias[at]);
                bias + inputs
                    .iter()
                    .map(|input| i32::from(weights.features[input * hidden + at]))
                    .sum::<i32>()
            };
            (0..hidden).map(|at| (f64::from(sum(at)) / 255.0).clamp(0.0, 1.0).powi(2)).collect()
        };
        let bucket = (board.occupied().count() - 2) / 4;
        let output = weights.output[bucket * 2 * hidden..]
            .iter()
            .map(|&weight| f64::from(weight) / f64::from(weights.output_unit));
        let layers = layer(position.turn()).into_iter().chain(layer(!position.turn()));
        let sum: f64 = layers.zip(output).map(|(value, weight)| value * weight).sum();
        400.0 * (sum + f64::from(weights.output_bias[bucket]) / (255.0 * f64::from(weights.output_unit)))
    }

    proptest! {
        #[test]
        fn positions_are_evaluated_as_a_trainer_does_and_alike_from_both_sides(
            choices in prop::collection::vec(any::<prop::sample::Index>(), 1..100),
            seed: u64,
            output_unit in 64..=MAX_OUTPUT_UNIT,
        ) {
            let random = Weights::random(NetShape::new(32).unwrap(), seed);
            let weights = Weights { output_unit, ..random };
            let net = Net::new(&weights).unwrap();
            let mut position = Chess::start();
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                position.play(moves[choice.index(moves.len())]);
                let score = net.evaluate(position.board(), position.turn());
                let exact = in_floating_point(&weights, &position);
                prop_assert!((f64::from(score) - exact).abs() < 1.1, "{score} {exact} {}", position.print());
                let mirrored = position.position().to_setup(EnPassantMode::Legal).into_mirrored();
                prop_assert_eq!(score, net.evaluate(&mirrored.board, mirrored.turn));
                let mut flipped = position.board().clone();
                flipped.flip_horizontal();
                prop_assert_eq!(score, net.evaluate(&flipped, position.turn()));
            }
        }
    }

    #[test]
    fn the_largest_weights_wrap_and_stay_in_bounds() {
        let shape = NetShape::new(1024).unwrap();
        for (feature, output, bias) in
            [(i16::MAX, 127, i32::MAX), (i16::MIN, -127, i32::MIN), (9, 127, i32::MAX)]
        {
            let mut weights = Weights::zero(shape);
            weights.features.fill(feature);
            weights.output.fill(output);
            weights.output_bias.fill(bias);
            let start = Chess::start();
            let score = Net::new(&weights).unwrap().evaluate(start.board(), start.turn());
            assert!(i64::from(score.abs()) <= MAX_EVALUATION);
        }
    }

    #[test]
    fn one_weight_counts_for_one_input() {
        let start = Chess::start();
        let mut weights = Weights::zero(NetShape::new(32).unwrap());
        let input = feature_index(Color::White, Square::E1, Role::Rook.of(Color::White), Square::A1);
        assert!(input < FEATURES);
        weights.features[input * 32 + 5] = 255;
        // The layer for all pieces: the side to move first.
        weights.output[7 * 64 + 5] = 64;
        assert_eq!(Net::new(&weights).unwrap().evaluate(start.board(), Color::White), SCALE);
        weights.output[7 * 64 + 32 + 5] = -16;
        weights.output_bias[7] = QA * i32::from(weights.output_unit) / 2;
        assert_eq!(
            Net::new(&weights).unwrap().evaluate(start.board(), Color::Black),
            SCALE - SCALE / 4 + SCALE / 2
        );
    }

    #[test]
    fn a_net_is_known_by_its_weights() {
        assert_eq!(net(32, 1).checksum(), net(32, 1).checksum());
        assert_ne!(net(32, 1).checksum(), net(32, 2).checksum());
        assert_eq!(net(64, 1).shape().hidden(), 64);
    }
}

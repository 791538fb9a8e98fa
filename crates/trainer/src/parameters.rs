//! Parameters of the net as floating-point numbers: how they begin, and how they are rounded.

use zeitnot_engine::net::{MAX_OUTPUT_UNIT, MAX_OUTPUT_WEIGHT, NetShape, QA, QB, Weights};

use crate::layers::Shape;

/// Bound of every parameter: sums of the first layer fit 16 bits, and weights of the output layer are rounded to parts of
/// `MAX_OUTPUT_WEIGHT / BOUND` at least, which loses less than the coarser ones of a wider bound.
pub(crate) const BOUND: f32 = 0.99;
const _: () = assert!(BOUND * 2.0 * QB as f32 <= MAX_OUTPUT_WEIGHT as f32);
const _: () = assert!(BOUND * QA as f32 * 33.0 < i16::MAX as f32);

/// Features that are active in a view at most: a weight of the first layer begins below the root of its inverse.
const ACTIVE: f32 = 32.0;

/// Parameters of a net, in the order of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    pub(crate) shape: NetShape,
    pub(crate) values: Vec<f32>,
}

impl Parameters {
    /// Random weights and no biases.
    pub(crate) fn random(shape: NetShape, seed: u64) -> Parameters {
        let bounds = [1.0 / ACTIVE.sqrt(), 1.0 / (2.0 * shape.hidden() as f32).sqrt()];
        let values = Shape::from(shape).random(&mut fastrand::Rng::with_seed(seed), bounds);
        Parameters { shape, values }
    }

    /// The parameters rounded to what the engine computes with.
    pub fn quantised(&self) -> Weights {
        let layers = Shape::from(self.shape).split(&self.values);
        let rounded = |weights: &[f32], unit: f32| -> Vec<i16> {
            weights.iter().map(|weight| (weight * unit).round() as i16).collect()
        };
        // The smallest parts of which all weights of the output layers still fit.
        let largest = layers.output.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
        let output_unit =
            (f32::from(MAX_OUTPUT_WEIGHT) / largest).clamp(f32::from(QB), f32::from(MAX_OUTPUT_UNIT)).floor();
        let mut weights = Weights::zero(self.shape);
        weights.features = rounded(layers.columns, QA as f32);
        weights.feature_bias = rounded(layers.bias, QA as f32);
        weights.output_unit = output_unit as u16;
        weights.output = rounded(layers.output, output_unit);
        for (rounded, bias) in weights.output_bias.iter_mut().zip(layers.output_bias) {
            *rounded = (bias * QA as f32 * output_unit).round() as i32;
        }
        weights
    }
}

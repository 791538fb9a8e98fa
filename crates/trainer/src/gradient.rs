//! Loss and gradient of positions.
//!
//! The innermost loops, which [`simd`](super::simd) compiles for several instruction sets. All compute the same numbers:
//! a sum that the compiler could vectorise only by reordering it is written in lanes.

use crate::{
    example::{Example, sigmoid},
    layers::Shape,
};

/// Values of the hidden layer that are summed up at a time, in registers.
const TILE: usize = 32;
/// Lanes of the output's sum.
const LANES: usize = 16;

/// The output for a position, in units of the net's scale; leaves both accumulators behind, unclipped.
#[inline(always)]
fn forward(shape: Shape, values: &[f32], example: &Example, accumulators: &mut [f32]) -> f32 {
    let (layers, hidden) = (shape.split(values), shape.hidden);
    let (own, other) = accumulators.split_at_mut(hidden);
    for (active, accumulator) in [(example.own(), own), (example.other(), other)] {
        for (tile, sums) in accumulator.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
            let bias: &[f32; TILE] = &layers.bias.as_chunks().0[tile];
            let mut sum = *bias;
            for &input in active {
                let column = &layers.columns[usize::from(input) * hidden..][..hidden];
                for (sum, weight) in sum.iter_mut().zip(&column.as_chunks::<TILE>().0[tile]) {
                    *sum += weight;
                }
            }
            *sums = sum;
        }
    }
    let bucket = example.bucket;
    let weights = &layers.output[bucket * 2 * hidden..][..2 * hidden];
    let mut lanes = [0.0; LANES];
    let accumulators = accumulators.as_chunks::<LANES>().0;
    for (accumulators, weights) in accumulators.iter().zip(weights.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            let active = accumulators[lane].clamp(0.0, 1.0);
            lanes[lane] += weights[lane] * active * active;
        }
    }
    lanes.iter().sum::<f32>() + layers.output_bias[bucket]
}

/// Adds to the gradient what a change of the output by `slope` does.
#[inline(always)]
fn backward(
    shape: Shape,
    values: &[f32],
    example: &Example,
    slope: f32,
    accumulators: &mut [f32],
    gradient: &mut [f32],
) {
    let (layers, gradient, hidden) = (shape.split(values), shape.split_mut(gradient), shape.hidden);
    let bucket = example.bucket;
    gradient.output_bias[bucket] += slope;
    let output = bucket * 2 * hidden;
    let weights = &layers.output[output..][..2 * hidden];
    let weight_slopes = &mut gradient.output[output..][..2 * hidden];
    for ((value, weight), weight_slope) in accumulators.iter_mut().zip(weights).zip(weight_slopes) {
        let active = value.clamp(0.0, 1.0);
        *weight_slope += slope * active * active;
        let inner = if *value < 1.0 { 2.0 * active } else { 0.0 };
        *value = slope * weight * inner;
    }
    let (own, other) = accumulators.split_at(hidden);
    for (view, active) in [(own, example.own()), (other, example.other())] {
        for (slope, change) in gradient.bias.iter_mut().zip(view) {
            *slope += change;
        }
        for &input in active {
            let column = &mut gradient.columns[usize::from(input) * hidden..][..hidden];
            for (slope, change) in column.iter_mut().zip(view) {
                *slope += change;
            }
        }
    }
}

/// Adds the gradient of the squared errors of these positions, each times `part`, and returns the sum of the squared
/// errors.
#[inline(always)]
pub(crate) fn learn(
    shape: Shape,
    values: &[f32],
    examples: &[Example],
    part: f32,
    accumulators: &mut [f32],
    gradient: &mut [f32],
) -> f64 {
    let mut sum = 0.0;
    for example in examples {
        let points = sigmoid(forward(shape, values, example, accumulators));
        let error = points - example.target;
        sum += f64::from(error * error);
        let slope = 2.0 * error * points * (1.0 - points) * part;
        backward(shape, values, example, slope, accumulators, gradient);
    }
    sum
}

/// Tells the output for each position, in units of the net's scale.
#[inline(always)]
pub(crate) fn outputs(
    shape: Shape,
    values: &[f32],
    examples: &[Example],
    accumulators: &mut [f32],
    tell: &mut Vec<f32>,
) {
    tell.extend(examples.iter().map(|example| forward(shape, values, example, accumulators)));
}

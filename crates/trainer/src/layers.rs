//! Parts of a slice of parameters, or of their gradient, in the order of the net's file.

use zeitnot_engine::net::{BUCKETS, FEATURES, NetShape};

/// Parts of a slice.
pub(crate) struct Layers<T> {
    /// The first layer, a column of weights for each feature.
    pub(crate) columns: T,
    /// The bias of the first layer.
    pub(crate) bias: T,
    /// The output layer: for each bucket the weights of the side to move's view, then of the other.
    pub(crate) output: T,
    /// The bias of each bucket.
    pub(crate) output_bias: T,
}

/// The number of parameters.
pub(crate) fn parameter_count(shape: NetShape) -> usize {
    shape.feature_weights() + shape.hidden() + shape.output_weights() + BUCKETS
}

#[inline(always)]
pub(crate) fn split(hidden: usize, values: &[f32]) -> Layers<&[f32]> {
    let (columns, rest) = values.split_at(FEATURES * hidden);
    let (bias, rest) = rest.split_at(hidden);
    let (output, output_bias) = rest.split_at(2 * BUCKETS * hidden);
    Layers { columns, bias, output, output_bias }
}

#[inline(always)]
pub(crate) fn split_mut(hidden: usize, values: &mut [f32]) -> Layers<&mut [f32]> {
    let (columns, rest) = values.split_at_mut(FEATURES * hidden);
    let (bias, rest) = rest.split_at_mut(hidden);
    let (output, output_bias) = rest.split_at_mut(2 * BUCKETS * hidden);
    Layers { columns, bias, output, output_bias }
}

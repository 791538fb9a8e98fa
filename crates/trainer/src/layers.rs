//! Shape of a net, and the parts of a slice of its parameters, or of their gradient, in the order of its file.

use zeitnot_engine::{
    eval::small_net,
    net::{BUCKETS, FEATURES, NetShape},
};

/// Sizes of a net: a hidden layer for each view, and an output layer for each bucket.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Inputs of a view.
    pub(crate) inputs: usize,
    /// Values of a view's hidden layer, a multiple of 32.
    pub(crate) hidden: usize,
}

const _: () = assert!(small_net::BUCKETS == BUCKETS);

impl From<NetShape> for Shape {
    fn from(shape: NetShape) -> Shape {
        Shape { inputs: FEATURES, hidden: shape.hidden() }
    }
}

/// Parts of a slice.
pub(crate) struct Layers<T> {
    /// The first layer, a column of weights for each input.
    pub(crate) columns: T,
    /// The bias of the first layer.
    pub(crate) bias: T,
    /// The output layer: for each bucket the weights of the side to move's view, then of the other.
    pub(crate) output: T,
    /// The bias of each bucket.
    pub(crate) output_bias: T,
}

impl Shape {
    pub(crate) fn parameters(self) -> usize {
        (self.inputs + 1 + 2 * BUCKETS) * self.hidden + BUCKETS
    }

    #[inline(always)]
    pub(crate) fn split(self, values: &[f32]) -> Layers<&[f32]> {
        let (columns, rest) = values.split_at(self.inputs * self.hidden);
        let (bias, rest) = rest.split_at(self.hidden);
        let (output, output_bias) = rest.split_at(2 * BUCKETS * self.hidden);
        Layers { columns, bias, output, output_bias }
    }

    #[inline(always)]
    pub(crate) fn split_mut(self, values: &mut [f32]) -> Layers<&mut [f32]> {
        let (columns, rest) = values.split_at_mut(self.inputs * self.hidden);
        let (bias, rest) = rest.split_at_mut(self.hidden);
        let (output, output_bias) = rest.split_at_mut(2 * BUCKETS * self.hidden);
        Layers { columns, bias, output, output_bias }
    }

    /// Random weights up to these bounds, of the first and of the output layer, and no biases.
    pub(crate) fn random(self, random: &mut fastrand::Rng, [columns, output]: [f32; 2]) -> Vec<f32> {
        let mut values = vec![0.0; self.parameters()];
        let layers = self.split_mut(&mut values);
        for (weights, bound) in [(layers.columns, columns), (layers.output, output)] {
            weights.iter_mut().for_each(|weight| *weight = (2.0 * random.f32() - 1.0) * bound);
        }
        values
    }
}

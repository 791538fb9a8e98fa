//! Small nets for small boards: one hidden layer of 32 values a side, which follows the moves.
//!
//! As in chess ([`net`](crate::net)), the layer of the side to move and that of the other are joined by one of
//! eight output layers. The inputs are the game's ([`NetInputs`]); facts that change with every move are added when a
//! position is evaluated. See `docs/net.md`.

mod evaluator;
mod inputs;

use zeitnot_rules::Color;

use crate::net::{MAX_OUTPUT_WEIGHT, QA, QB};
pub use evaluator::{NetGame, SmallNetEval};
pub use inputs::{NetInputs, Placed};

/// Values of a hidden layer.
pub const HIDDEN: usize = 32;
/// Output layers.
pub const BUCKETS: usize = 8;

/// Weights of one input, or values of a hidden layer.
pub type Column = [i16; HIDDEN];

/// Weights of a net; behind a reference, for any number of inputs.
#[derive(Debug)]
pub struct SmallNet<C: ?Sized = [Column]> {
    bias: Column,
    /// For each bucket the weights of the side to move's layer, then of the other's.
    output: [[Column; 2]; BUCKETS],
    output_bias: [i32; BUCKETS],
    /// Centipawns of an output of one.
    scale: i32,
    /// By input.
    columns: C,
}

/// Hidden layers of White and Black, without what the facts add.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HiddenLayers([Column; 2]);

impl<const INPUTS: usize> SmallNet<[Column; INPUTS]> {
    /// Size of a file.
    pub const BYTES: usize = 2 * HIDDEN * (INPUTS + 1 + 2 * BUCKETS) + 4 * (BUCKETS + 1);

    /// Reads a file, when the program is compiled.
    ///
    /// # Panics
    /// If the bytes are no net of so many inputs.
    pub const fn read(bytes: &[u8]) -> Self {
        assert!(bytes.len() == Self::BYTES, "a net of another size");
        let mut net = SmallNet {
            bias: [0; HIDDEN],
            output: [[[0; HIDDEN]; 2]; BUCKETS],
            output_bias: [0; BUCKETS],
            scale: 0,
            columns: [[0; HIDDEN]; INPUTS],
        };
        let mut at = 0;
        while at < INPUTS {
            net.columns[at] = column(bytes, at);
            at += 1;
        }
        net.bias = column(bytes, at);
        let mut bucket = 0;
        while bucket < BUCKETS {
            net.output[bucket] = [column(bytes, at + 1 + 2 * bucket), column(bytes, at + 2 + 2 * bucket)];
            assert!(is_small(&net.output[bucket][0]) && is_small(&net.output[bucket][1]));
            net.output_bias[bucket] = number(bytes, Self::BYTES - 4 * (BUCKETS + 1 - bucket));
            bucket += 1;
        }
        net.scale = number(bytes, Self::BYTES - 4);
        net
    }
}

const fn column(bytes: &[u8], index: usize) -> Column {
    let mut column = [0; HIDDEN];
    let mut at = 0;
    while at < HIDDEN {
        let byte = 2 * (HIDDEN * index + at);
        column[at] = i16::from_le_bytes([bytes[byte], bytes[byte + 1]]);
        at += 1;
    }
    column
}

const fn number(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Whether the products with hidden values fit 16 bits.
const fn is_small(weights: &Column) -> bool {
    let mut at = 0;
    while at < HIDDEN {
        if weights[at] > MAX_OUTPUT_WEIGHT || weights[at] < -MAX_OUTPUT_WEIGHT {
            return false;
        }
        at += 1;
    }
    true
}

impl SmallNet {
    /// The hidden layers of a position.
    pub fn refresh<G: NetInputs>(&self, position: &G) -> HiddenLayers {
        let mut layers = [self.bias; 2];
        position.placed(|placed| {
            for view in Color::BOTH {
                add(&mut layers[view as usize], &self.columns[position.input(view, placed)]);
            }
        });
        HiddenLayers(layers)
    }

    /// The hidden layers after a move.
    pub fn update<G: NetInputs>(&self, layers: &HiddenLayers, before: &G, mv: G::Move) -> HiddenLayers {
        let HiddenLayers(mut layers) = *layers;
        before.changes(mv, |placed, comes| {
            for view in Color::BOTH {
                let column = &self.columns[before.input(view, placed)];
                let layer = &mut layers[view as usize];
                if comes { add(layer, column) } else { subtract(layer, column) }
            }
        });
        HiddenLayers(layers)
    }

    /// The score for the side to move, in centipawns.
    pub fn evaluate<G: NetInputs>(&self, layers: &HiddenLayers, position: &G) -> i32 {
        let us = position.side_to_move();
        let bucket = position.bucket();
        let HiddenLayers(mut layers) = *layers;
        position.facts(|facts| {
            for (layer, fact) in layers.iter_mut().zip(facts) {
                add(layer, &self.columns[G::PLACES + fact]);
            }
        });
        let mut sum = 0_i32;
        for (view, weights) in [us, !us].into_iter().zip(&self.output[bucket]) {
            sum = sum.wrapping_add(dot(&layers[view as usize], weights));
        }
        let output = i64::from(sum / QA + self.output_bias[bucket]);
        (output * i64::from(self.scale) / (i64::from(QA) * i64::from(QB))) as i32
    }
}

fn add(layer: &mut Column, column: &Column) {
    for (value, weight) in layer.iter_mut().zip(column) {
        *value = value.wrapping_add(*weight);
    }
}

fn subtract(layer: &mut Column, column: &Column) {
    for (value, weight) in layer.iter_mut().zip(column) {
        *value = value.wrapping_sub(*weight);
    }
}

/// The sum of the squares of the clamped values, each times its weight.
fn dot(layer: &Column, weights: &Column) -> i32 {
    let products = layer.iter().zip(weights).map(|(value, weight)| {
        let value = (*value).clamp(0, QA as i16);
        i32::from(value) * i32::from(value.wrapping_mul(*weight))
    });
    products.sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::eval::Evaluator;

    /// Plies of a random game, at most.
    const PLIES: usize = 200;

    /// Centipawns for the side to move.
    pub(crate) fn score<G: NetGame>(position: &G) -> i32 {
        SmallNetEval.evaluate(&SmallNetEval.refresh(position), position).get()
    }

    /// Plays a game at random; the layers that follow it are those of each position from scratch.
    pub(crate) fn assert_follows<G: NetGame>(start: &G, seed: u64) {
        let (mut random, mut position) = (fastrand::Rng::with_seed(seed), start.clone());
        let mut layers = SmallNetEval.refresh(&position);
        for _ in 0..PLIES {
            let Some(mv) = position.pick(|moves| random.usize(..moves)) else { break };
            layers = SmallNetEval.update(&layers, &position, mv);
            position.play(mv);
            assert_eq!(layers, SmallNetEval.refresh(&position), "{}", position.print());
        }
    }
}

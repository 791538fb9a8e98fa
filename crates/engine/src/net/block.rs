//! Inner loops over hidden layers, in portable code that the compiler turns into SIMD instructions.
//!
//! Each is compiled for AVX-512, for AVX2 and for every processor of the target; the crate `multiversion` chooses at
//! run time, without `unsafe` here. All give the same bits: they compute with integers, and sums wrap.
//!
//! Blocks are added in loops, not by closures: those of a fold would be compiled for every processor, and called for
//! each block.

use bytemuck::{Pod, Zeroable};
use multiversion::multiversion;

use super::{NetShape, QA};

/// Part of a hidden layer or of its weights, as large as a line of the processor's cache.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Block([i16; NetShape::STEP]);

impl Block {
    /// Blocks of a row of values, whose number is a multiple of [`NetShape::STEP`].
    pub(super) fn of(values: &[i16]) -> Vec<Block> {
        values.as_chunks().0.iter().copied().map(Block).collect()
    }

    #[inline(always)]
    fn plus(mut self, other: &Block) -> Block {
        self.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
        self
    }

    #[inline(always)]
    fn minus(mut self, other: &Block) -> Block {
        self.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum = sum.wrapping_sub(value));
        self
    }
}

/// Stores a layer after a piece has moved from the square of one column of weights to that of another.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn move_piece(to: &mut [Block], from: &[Block], added: &[Block], taken: &[Block]) {
    update(to, from, added, [taken]);
}

/// Stores a layer after a piece has moved and captured another.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn capture(to: &mut [Block], from: &[Block], added: &[Block], taken: [&[Block]; 2]) {
    update(to, from, added, taken);
}

/// Adds any number of columns of weights to a layer, and takes others away.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn change(layer: &mut [Block], added: &[&[Block]], taken: &[&[Block]]) {
    change_portably(layer, added, taken);
}

/// Sum of the products of weights and activated values: squares of values from 0 to [`QA`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn dot(hidden: &[Block], weights: &[Block]) -> i32 {
    dot_portably(hidden, weights)
}

#[inline(always)]
fn update<const TAKEN: usize>(to: &mut [Block], from: &[Block], added: &[Block], taken: [&[Block]; TAKEN]) {
    // One check of the lengths each, instead of one for each block.
    let count = to.len();
    let (from, added, taken) = (&from[..count], &added[..count], taken.map(|column| &column[..count]));
    for at in 0..count {
        let mut sum = from[at].plus(&added[at]);
        for column in &taken {
            sum = sum.minus(&column[at]);
        }
        to[at] = sum;
    }
}

#[inline(always)]
fn change_portably(layer: &mut [Block], added: &[&[Block]], taken: &[&[Block]]) {
    for (at, block) in layer.iter_mut().enumerate() {
        let mut sum = *block;
        for column in added {
            sum = sum.plus(&column[at]);
        }
        for column in taken {
            sum = sum.minus(&column[at]);
        }
        *block = sum;
    }
}

#[inline(always)]
fn dot_portably(hidden: &[Block], weights: &[Block]) -> i32 {
    // One loop over all values: compilers make less of two loops.
    let (hidden, weights): (&[i16], &[i16]) = (bytemuck::cast_slice(hidden), bytemuck::cast_slice(weights));
    hidden.iter().zip(weights).fold(0, |sum: i32, (&value, &weight)| {
        let value = value.clamp(0, QA as i16);
        // A weight is at most `MAX_OUTPUT_WEIGHT`: this product fits 16 bits.
        sum.wrapping_add(i32::from(value.wrapping_mul(weight)) * i32::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rng: &mut fastrand::Rng, most: i16, count: usize) -> Vec<Block> {
        let values: Vec<_> = (0..count * NetShape::STEP).map(|_| rng.i16(-most..=most)).collect();
        Block::of(&values)
    }

    // The second instruction set, which is not chosen where the first one can be.
    #[multiversion(targets("x86_64+avx2"))]
    fn move_piece_avx2(to: &mut [Block], from: &[Block], added: &[Block], taken: &[Block]) {
        update(to, from, added, [taken]);
    }
    #[multiversion(targets("x86_64+avx2"))]
    fn capture_avx2(to: &mut [Block], from: &[Block], added: &[Block], taken: [&[Block]; 2]) {
        update(to, from, added, taken);
    }
    #[multiversion(targets("x86_64+avx2"))]
    fn change_avx2(layer: &mut [Block], added: &[&[Block]], taken: &[&[Block]]) {
        change_portably(layer, added, taken);
    }
    #[multiversion(targets("x86_64+avx2"))]
    fn dot_avx2(hidden: &[Block], weights: &[Block]) -> i32 {
        dot_portably(hidden, weights)
    }

    #[test]
    fn all_instruction_sets_give_the_same_bits() {
        let mut rng = fastrand::Rng::with_seed(3);
        for round in 0..1_000 {
            let count = 1 + round % 32;
            // Large values wrap.
            let largest = if round % 2 == 0 { i16::MAX } else { 100 };
            let from = random(&mut rng, largest, count);
            let columns: Vec<_> = (0..5).map(|_| random(&mut rng, largest, count)).collect();
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| columns[at].as_slice());
            let weights = random(&mut rng, 127, count);
            let (mut best, mut avx2, mut portable) = (from.clone(), from.clone(), from.clone());
            move_piece(&mut best, &from, a, b);
            move_piece_avx2(&mut avx2, &from, a, b);
            update(&mut portable, &from, a, [b]);
            assert!(best == portable && avx2 == portable);
            capture(&mut best, &from, a, [b, c]);
            capture_avx2(&mut avx2, &from, a, [b, c]);
            update(&mut portable, &from, a, [b, c]);
            assert!(best == portable && avx2 == portable);
            change(&mut best, &[a, b, c], &[d, e]);
            change_avx2(&mut avx2, &[a, b, c], &[d, e]);
            change_portably(&mut portable, &[a, b, c], &[d, e]);
            assert!(best == portable && avx2 == portable);
            let expected = dot_portably(&portable, &weights);
            assert_eq!([dot(&portable, &weights), dot_avx2(&portable, &weights)], [expected; 2]);
        }
    }
}
